"""RecBole's atomic files: ``.inter`` for events, ``.item`` for items, with a type behind every column name.

Files that were split beforehand (``x.train.inter``, ``x.valid.inter``, ``x.test.inter``) are one log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sprintrec.errors import Mistake
from sprintrec.tables import delimited, files
from sprintrec.tables.catalogue import FIELD_NAMES
from sprintrec.tables.columns import plain
from sprintrec.tables.delimited import Layout
from sprintrec.tables.guess import number
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ItemList, ItemRow, Table

EVENTS, ITEMS = ".inter", ".item"


def holds_events(path: Path) -> bool:
    return bool(_files(path, EVENTS))


def holds_items(path: Path) -> bool:
    return bool(_files(path, ITEMS))


def items_beside(path: Path) -> Path | None:
    file = _one(path, EVENTS)
    return files.named(file.parent, f"{file.name.split('.')[0]}{ITEMS}")


def events(path: Path, options: ReadOptions) -> list[Table]:
    tables = []
    for part in files.split_parts(_one(path, EVENTS)):
        layout = _layout(part, options)
        untyped = [name.split(":")[0] for name in layout.columns]
        tables.append(delimited.table(part, replace(layout, columns=untyped)))
    return tables


def items(path: Path, options: ReadOptions) -> ItemList:
    file = _one(path, ITEMS)
    return ItemList(file.name, _item_rows(file, _layout(file, options)))


def _files(path: Path, suffix: str) -> list[Path]:
    files_ = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in files_ if file.is_file() and file.name.removesuffix(".gz").endswith(suffix)]


def _one(path: Path, suffix: str) -> Path:
    """The file of a folder; of several, they must be the parts of one log."""
    found = _files(files.existing(path), suffix)
    stems = {file.name.split(".")[0] for file in found}
    if len(stems) != 1:
        names = ", ".join(file.name for file in found)
        raise Mistake(f"{path} holds {'several logs: ' + names + '; name one' if found else 'no ' + suffix + ' file'}")
    return found[0]


def _layout(file: Path, options: ReadOptions) -> Layout:
    delimiter = options.delimiter or "\t"
    header = files.head_lines(file)[0].split(delimiter)
    if len(header) < 2 or not any(":" in name for name in header):
        raise Mistake(f"{file}: row 1 names no typed columns such as user_id:token, cut at {delimiter!r} (--delimiter)")
    # Written without quotation marks by RecBole's converters; a mark in a title is just a mark.
    return Layout(delimiter, header, skip_lines=1, quoted=False)


def _item_rows(file: Path, layout: Layout) -> Iterator[ItemRow]:
    for row in delimited.item_list(file, layout).rows:
        yield row if row.fields is None else replace(row, fields=_untyped(row.fields))


def _untyped(fields: Mapping[str, object]) -> dict[str, object]:
    """Fields under bare names; numbers as numbers, sequences of categories as lists."""
    untyped: dict[str, object] = {}
    for typed, text in fields.items():
        name, _, kind = typed.partition(":")
        value: object = str(text)
        if kind == "float":
            value = number(str(text))
        elif kind == "token_seq" and plain(name) in FIELD_NAMES["categories"]:
            # Single words by blanks, or quoted phrases by commas.
            value = re.findall(r"'([^']+)'", str(text)) or str(text).split()
        untyped[name] = value
    return untyped
