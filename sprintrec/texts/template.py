"""Item fields to one text, as the paper does it.

Title, price, sales rank, brand, categories and description, each cleaned and made a sentence, in this
order; what is missing is skipped. An item that has no words in any of these is read as it comes: all its
fields that hold words. ``NAME`` goes wherever vectors go, because another text makes other vectors.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from sprintrec.records import Items

NAME = "sentences-1"

PRICE, RANK = NUMBERS = ("Price: ", "Sales rank: ")
# Per sentence: what is said before the value, and the names the field goes by; the first one filled counts.
SENTENCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", ("title", "name", "keywords")),
    (PRICE, ("price",)),
    (RANK, ("salesRank", "sales_rank", "salesrank", "rank")),
    ("Brand: ", ("brand",)),
    ("", ("categories",)),
    ("", ("description",)),
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
_BLANKS = re.compile(r"\s+")
_LINK = re.compile(r"^\w+://\S+$|^\S+\.(?:jpe?g|png|gif|webp|html?)$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2}")


def item_texts(items: Items) -> list[str]:
    """One text per item; the empty text where an item has nothing to say."""
    return [text_of(fields) for fields in items.fields]


def text_of(fields: Mapping[str, object]) -> str:
    """The text of one item."""
    known = [(said, value) for said, names in SENTENCES if (value := _first(fields, names))]
    if any(said not in NUMBERS for said, _ in known):
        sentences = [f"{said}{value}" for said, value in known]
    else:
        sentences = [words for value in fields.values() if _has_words(words := clean(value))]
    return " ".join(sentence if sentence[-1] in ".!?" else f"{sentence}." for sentence in sentences)


def clean(value: object) -> str:
    """A value as plain words: no markup, no entities, single blanks; lists and mappings by commas."""
    text = ", ".join(part for part in map(_plain, _parts(value)) if part)
    return text.strip(" ,;")


def _plain(text: str) -> str:
    # Twice: catalogues hold entities of entities (&amp;quot;), and tags that were written as entities.
    text = html.unescape(html.unescape(text))
    return _BLANKS.sub(" ", _TAG.sub(" ", text)).strip()


def _parts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (f"{key} {part}" for key, inner in value.items() for part in _parts(inner))
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        for inner in value:
            yield from _parts(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _first(fields: Mapping[str, object], names: Sequence[str]) -> str:
    return next((text for name in names if (text := clean(fields.get(name)))), "")


def _has_words(text: str) -> bool:
    """Neither a number, a date or a code, nor an address."""
    return bool(_WORD.search(text)) and not _LINK.match(text)
