from __future__ import annotations

from sprintrec.records import Items
from sprintrec.texts.template import clean, item_texts, text_of


def test_the_papers_fields_in_the_papers_order() -> None:
    fields = {
        "description": "Smells of roses!",
        "categories": ["Beauty", "Skin Care"],
        "brand": "Acme",
        "salesRank": {"Beauty": 1234},
        "price": 9.99,
        "title": "Rose Cream",
        "image": "http://example.org/x.jpg",
    }
    assert text_of(fields) == (
        "Rose Cream. Price: 9.99. Sales rank: Beauty 1234. Brand: Acme. Beauty, Skin Care. Smells of roses!"
    )


def test_missing_and_blank_fields_are_skipped() -> None:
    assert text_of({"title": "Rose Cream", "brand": "", "categories": [], "description": None}) == "Rose Cream."


def test_keywords_stand_in_for_a_title() -> None:
    assert text_of({"keywords": "glock grip", "brand": "Glock"}) == "glock grip. Brand: Glock."


def test_markup_entities_and_blanks_go() -> None:
    dirty = "  Tom &amp;amp; Jerry&#39;s\n<b>big</b>&lt;br/&gt; day\t<!-- no --> 1 < 2 "
    assert clean(dirty) == "Tom & Jerry's big day 1 < 2"


def test_an_unknown_catalogue_gives_what_holds_words() -> None:
    fields = {
        "headline": "A new day",
        "url": "https://example.org/a",
        "year": 1999,
        "sku": "7-12",
        "topics": ["a b", "news"],
    }
    assert text_of(fields) == "A new day. a b, news."


def test_known_fields_keep_unknown_ones_out() -> None:
    assert text_of({"title": "A", "headline": "Something else"}) == "A."


def test_nothing_to_say_is_the_empty_text() -> None:
    assert item_texts(Items(["a", "b"], [{}, {"title": " "}])) == ["", ""]


def test_a_price_alone_is_no_text() -> None:
    assert text_of({"price": 9.99, "rank": 3}) == ""
