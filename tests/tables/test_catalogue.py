"""Item lists: ids once each, fields under common names, nothing that says nothing."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from sprintrec.errors import Mistake
from sprintrec.tables.catalogue import Catalogue, read_catalogue, tidy_fields
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ItemList, ItemRow


def catalogue(*rows: dict[str, object] | None) -> Catalogue:
    listed = (ItemRow(at, str(row), row, "" if row else "the row is broken") for at, row in enumerate(rows, 2))
    return read_catalogue(ItemList("items.csv", listed), ReadOptions())


def test_the_first_mention_stays() -> None:
    found = catalogue({"id": "a", "title": "one"}, {"id": "b", "title": ""}, {"id": "a", "title": "two"})
    assert found.ids == ["a", "b"]
    assert found.fields == [{"title": "one"}, {}]
    assert "Items listed once more: 1; the first mention is kept." in found.notes


def test_refused_rows_say_why() -> None:
    found = catalogue(
        {"id": "a"}, {"id": " "}, None, {"id": "x" * 2000}, {"id": "\ufffd"}, {"id": "b", "t": "y" * 200_000}
    )
    assert found.ids == ["a"]
    assert [str(row) for row in found.rejects.rows] == [
        "items.csv, row 3: column 'id' is blank (mend or delete the row)",
        "items.csv, row 4: the row is broken (mend or delete the row)",
        "items.csv, row 5: column 'id' is longer than 1000 bytes (mend or delete the row)",
        "items.csv, row 6: column 'id' isn't UTF-8 (mend or delete the row)",
        "items.csv, row 7: a field is longer than 100,000 characters (mend or delete the row)",
    ]


def test_an_empty_list() -> None:
    with pytest.raises(Mistake, match=r"items.csv lists no items"):
        catalogue()
    with pytest.raises(Mistake, match=r"items.csv lists no items: the row is broken"):
        catalogue(None)


@pytest.mark.parametrize("value", [7, 7.0, "7", " 7 "])
def test_ids_of_any_type_become_text(value: object) -> None:
    assert catalogue({"id": value}).ids == ["7"]


def test_common_names_and_values_for_json() -> None:
    fields = {
        "Product Title": "  Tea ",
        "name": "other",
        "store": "Shop",
        "genre": "Hot|Black| ",
        "desc": ["a", "", "b"],
        "price": float("nan"),
        "stock": 3,
        "hidden": False,
        "nothing": None,
        "since": date(2024, 1, 31),
        "exact": Decimal("1.5"),
        "blank": "  ",
        "empty": [],
    }
    assert tidy_fields(fields) == {
        "Product Title": "Tea",
        "title": "other",
        "brand": "Shop",
        "categories": ["Hot", "Black"],
        "description": "a b",
        "stock": 3,
        "hidden": False,
        "since": "2024-01-31",
        "exact": "1.5",
    }
