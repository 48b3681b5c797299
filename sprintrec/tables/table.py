"""What a format hands over: events and items with nothing decided yet.

A format knows where its files lie and how they are cut into fields. Which column means what, what counts
as unreadable and what becomes of it is decided once for all formats, in columns.py, checks.py and items.py.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

ROW = "<row>"  # column with the number of a row in its file, counted from 0
FAULT = "<fault>"  # column that says which of the table's own faults a row has; null: none
RAW = "<raw>"  # column with a row as it stands in the file
# Columns that are made for the roles: ids and event types as text, ratings as numbers, times as ticks.
USER, ITEM, TYPE, RATING, TICKS = "<user>", "<item>", "<type>", "<rating>", "<ticks>"

Scan = Callable[[Sequence[str]], pl.LazyFrame]


@dataclass(frozen=True)
class Table:
    """One file of events."""

    source: str  # the file, as messages call it
    columns: Sequence[str]
    scan: Scan  # wanted columns -> a lazy frame of them, ROW, RAW and FAULT, in file order
    careful: Scan | None = None  # a slower or laxer scan, for files at which the first one fails
    careful_note: str = ""  # what the second scan does differently, for people
    first_row: int = 1  # how people number the row that ROW calls 0
    faults: Sequence[tuple[str, str]] = ()  # what can be wrong with a row of this format, and the fix
    roles: Mapping[str, str] = field(default_factory=dict)  # role -> column, where the format fixes it
    notes: Sequence[str] = ()
    advice: str = ""  # what else to try where a column is missing


@dataclass(frozen=True)
class ItemRow:
    """One item of a list as it stands there; ``fields`` is None where the row cannot be read."""

    row: int
    raw: str
    fields: Mapping[str, object] | None
    fault: str = ""


@dataclass(frozen=True)
class ItemList:
    """One list of items: files of items are short beside files of events, so this one is read row by row."""

    source: str
    rows: Iterator[ItemRow]
    rows_of: Callable[[Container[str]], Iterator[ItemRow]] | None = None  # some items alone, where that saves work
    id_column: str | None = None  # where the format fixes it
    notes: Sequence[str] = ()
