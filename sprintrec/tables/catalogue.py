"""An item list into ids and fields: which column is the id, common names for the common fields, no blanks.

Fields that people name differently get one name (title, brand, categories, description); all others keep
theirs. Values are ready for JSON: text, numbers, true or false, and lists of text.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from sprintrec.errors import Mistake
from sprintrec.tables.checks import LONGEST_ID, Reject, Rejects
from sprintrec.tables.columns import choose_items_id, plain
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ItemList, ItemRow

FIELD_NAMES: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "name", "itemname", "producttitle", "productname", "movietitle"),
    "brand": ("brand", "store", "manufacturer"),
    "categories": ("categories", "category", "genres", "genre", "class", "tags"),
    "description": ("description", "desc", "overview", "summary"),
}
SAMPLE_ROWS = 100  # rows of which the columns are looked at
LONGEST_FIELD = 100_000  # characters of one text


@dataclass(frozen=True)
class Catalogue:
    """The items of a list in its order."""

    ids: Sequence[str] = ()
    fields: Sequence[Mapping[str, object]] = ()
    rejects: Rejects = Rejects("items", 0)
    notes: Sequence[str] = field(default_factory=list)


def read_catalogue(listed: ItemList, options: ReadOptions, wanted: Container[str] | None = None) -> Catalogue:
    """The catalogue of an item list; of the wanted items alone, where a list can be read so."""
    rows = listed.rows_of(wanted) if wanted is not None and listed.rows_of else listed.rows
    sample = list(itertools.islice(rows, SAMPLE_ROWS))
    columns = list(dict.fromkeys(name for row in sample for name in row.fields or {}))
    if not columns:
        reason = f": {sample[0].fault}" if sample else ""
        raise Mistake(f"{listed.source} lists no items{reason}")
    id_column = choose_items_id(listed.source, columns, options, listed.id_column)
    found: dict[str, Mapping[str, object]] = {}
    rejected, total, twice, damaged = [], 0, 0, 0
    for row in itertools.chain(sample, rows):
        total += 1
        item = _text(row.fields.get(id_column)) if row.fields is not None else ""
        fault = _fault(row, item, id_column)
        if fault:
            rejected.append(Reject(listed.source, row.row, fault, "mend or delete the row", "", row.raw[:1000]))
        elif item in found:
            twice += 1
        else:
            assert row.fields is not None
            others = {name: value for name, value in row.fields.items() if name != id_column}
            found[item] = tidy_fields(others)
            damaged += "\ufffd" in row.raw
    names = list(dict.fromkeys(name for fields in itertools.islice(found.values(), SAMPLE_ROWS) for name in fields))
    notes = [*listed.notes, f"{listed.source}: item from {id_column!r}; fields {', '.join(names) or 'none'}."]
    notes += [f"Items listed once more: {twice:,}; the first mention is kept."] if twice else []
    notes += [f"Items with bytes that are not UTF-8, shown as \ufffd: {damaged:,}."] if damaged else []
    return Catalogue(list(found), list(found.values()), Rejects("items", total, len(rejected), rejected), notes)


def tidy_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Fields under their common names, without those that say nothing."""
    renamed = _common_names(fields)
    tidied = {name: _value(value) for name, value in renamed.items()}
    if "categories" in tidied:
        tidied["categories"] = _as_list(tidied["categories"])
    if isinstance(tidied.get("description"), list):
        tidied["description"] = " ".join(map(str, tidied["description"]))  # type: ignore[call-overload]
    return {name: value for name, value in tidied.items() if value not in (None, "", [])}


def _fault(row: ItemRow, item: str, id_column: str) -> str:
    if row.fields is None:
        return row.fault
    if not item:
        return f"column '{id_column}' is blank"
    if len(item.encode()) > LONGEST_ID:
        return f"column '{id_column}' is longer than {LONGEST_ID} bytes"
    if "\ufffd" in item:
        return f"column '{id_column}' isn't UTF-8"
    if any(isinstance(value, str) and len(value) > LONGEST_FIELD for value in row.fields.values()):
        return f"a field is longer than {LONGEST_FIELD:,} characters"
    return ""


def _common_names(fields: Mapping[str, object]) -> dict[str, object]:
    by_plain = {plain(name): name for name in reversed(list(fields))}
    common: dict[str, str] = {}
    for wanted, aliases in FIELD_NAMES.items():
        name = next((by_plain[alias] for alias in aliases if alias in by_plain), None)
        if name is not None:
            common[name] = wanted
    return {common.get(name, name): value for name, value in fields.items()}


def _value(value: object) -> object:
    """A value as JSON can hold it; None where it says nothing."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): inner for name, part in value.items() if (inner := _value(part)) is not None}
    if isinstance(value, Iterable):
        return [inner for part in value if (inner := _value(part)) not in (None, "")]
    return value if value is None or isinstance(value, (bool, int)) else str(value)


def _as_list(value: object) -> list[str]:
    """Categories as a flat list without doubles: of a list of paths, or of a text cut at its bars."""
    if isinstance(value, str):
        return list(dict.fromkeys(part.strip() for part in value.split("|") if part.strip()))
    if isinstance(value, list):
        return list(dict.fromkeys(name for part in value for name in _as_list(part)))
    return [] if value is None else [str(value)]


def _text(value: object) -> str:
    """An id as text; a whole number read as a float loses its fraction."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
