"""CSV and its relatives: any delimiter, with or without a header, packed with gzip or not.

Events are scanned by polars, every field as text, so that no reader takes "007" for a number. Lists of items
go through Python's csv module row by row: titles are where quotation marks go wrong.
"""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sprintrec.errors import Mistake
from sprintrec.tables import files
from sprintrec.tables.guess import guessed_roles, has_header
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import FAULT, RAW, ROW, ItemList, ItemRow, Table

SUFFIXES = (".csv", ".tsv", ".txt", ".psv", ".tab")
DELIMITERS = ",\t;|"
SPELLED_OUT = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
LOOKED_AT = 1000  # rows
REST = "<rest>"  # column with what follows the last field that the file has a column for
csv.field_size_limit(1 << 26)  # a long text is for the catalogue to refuse, in words that say so
UNPAIRED = "has a quotation mark that is not closed"


@dataclass(frozen=True)
class Layout:
    """How a file is cut into fields."""

    delimiter: str
    columns: Sequence[str]
    skip_lines: int = 0  # lines before the first row of data
    quoted: bool = True  # whether quotation marks may hold a field together
    encoding: str = "utf-8-sig"  # of an item list

    @property
    def quotes(self) -> bool:
        return self.quoted and len(self.delimiter.encode()) == 1


def holds_events(path: Path) -> bool:
    return path.is_file() and path.name.removesuffix(".gz").endswith(SUFFIXES)


holds_items = holds_events


def items_beside(path: Path) -> Path | None:
    return None


def events(path: Path, options: ReadOptions) -> list[Table]:
    layout, sample = examined(path, options)
    if sample is None:
        return [table(path, layout, advice="; if row 1 is no header, say --no-header")]
    roles = guessed_roles(sample)
    taken = ", ".join(f"{column} the {role}" for role, column in roles.items())
    note = f"{path.name} has no header: its columns are called 1, 2, ...; {taken}, unless said otherwise."
    return [table(path, layout, roles=roles, notes=(note,))]


def items(path: Path, options: ReadOptions) -> ItemList:
    layout, sample = examined(path, options)
    if sample is None:
        return item_list(path, layout)
    note = f"{path.name} has no header: column 1 is taken as the item, column 2 as its title."
    names = ["1", "title", *layout.columns[2:]]
    return item_list(path, Layout(layout.delimiter, names, layout.skip_lines), id_column="1", notes=(note,))


def table(
    path: Path, layout: Layout, roles: dict[str, str] | None = None, notes: Sequence[str] = (), advice: str = ""
) -> Table:
    """A table of events from a file of a known layout."""
    too_wide = f"has more fields than the {len(layout.columns)} columns"
    return Table(
        source=path.name,
        columns=layout.columns,
        scan=lambda wanted: _scanned(path, layout, layout.quotes),
        careful=(lambda wanted: _scanned(path, layout, quotes=False)) if layout.quotes else None,
        careful_note=f"{path.name}: quotation marks do not pair up: no field is taken to run past a delimiter or line.",
        first_row=layout.skip_lines + 1,
        faults=((too_wide, "put a field that holds the delimiter in quotes"), (UNPAIRED, "close it or remove it")),
        roles=roles or {},
        notes=notes,
        advice=advice,
    )


def item_list(path: Path, layout: Layout, id_column: str | None = None, notes: Sequence[str] = ()) -> ItemList:
    """A list of items from a file of a known layout."""
    return ItemList(path.name, _item_rows(path, layout), id_column=id_column, notes=notes)


def examined(path: Path, options: ReadOptions) -> tuple[Layout, list[list[str]] | None]:
    """Delimiter and columns of a file; and its first rows, where no header names the columns."""
    lines = files.head_lines(path)
    start = next(number for number, line in enumerate(lines) if line.strip())
    sample = lines[start : start + LOOKED_AT]
    likely = _likely_delimiter(sample)
    delimiter = SPELLED_OUT.get(options.delimiter or "", options.delimiter) or likely
    if delimiter is None or delimiter not in sample[0]:
        cut = f"cut at {delimiter!r} (--delimiter)" if delimiter else "whatever it is cut at"
        advice = f"it looks as if {likely!r} separates them" if likely else "name what separates them with --delimiter"
        raise Mistake(f"{path} has one column only, {cut}: {advice}")
    rows = [row for row in split_rows(sample, delimiter) if any(row)]
    named = (options.user, options.item, options.time, options.event_type, options.rating, options.items_id)
    if has_header(rows, named) if options.header is None else options.header:
        return Layout(delimiter, _unique(rows[0]), start + 1), None
    width = Counter(map(len, rows)).most_common(1)[0][0]
    return Layout(delimiter, [str(number) for number in range(1, width + 1)], start), rows


def split_rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Lines cut into fields; a delimiter of several characters knows no quotation marks."""
    if len(delimiter) == 1:
        try:
            return list(csv.reader(lines, delimiter=delimiter))
        except csv.Error:  # a field beyond all measure
            pass
    return [line.split(delimiter) for line in lines]


def _likely_delimiter(sample: Sequence[str]) -> str | None:
    """The delimiter that cuts most rows into the same number of fields, at least two."""
    best, found = (0.5, 1), None
    for delimiter in (*DELIMITERS, " "):
        widths = Counter(len(row) for row in split_rows(sample, delimiter))
        width, rows = widths.most_common(1)[0]
        if width > 1 and (rows / widths.total(), width) > best:
            best, found = (rows / widths.total(), width), delimiter
    return found


def _unique(names: Sequence[str]) -> list[str]:
    """Column names without blanks and doubles: a nameless column is called by its number."""
    unique: list[str] = []
    for number, name in enumerate(names, 1):
        wanted = name.strip() or str(number)
        unique.append(wanted if wanted not in unique else f"{wanted} ({number})")
    return unique


def _scanned(path: Path, layout: Layout, quotes: bool) -> pl.LazyFrame:
    """All fields as text, with ROW, RAW and FAULT; blank lines are passed over."""
    names = [*layout.columns, REST]
    if len(layout.delimiter.encode()) == 1:
        quote = '"' if quotes else None
        frame = files.scan_fields(path, names, layout.delimiter, quote=quote, skip_lines=layout.skip_lines)
    else:
        fields = pl.col("line").str.splitn(layout.delimiter, len(names)).struct.rename_fields(names)
        lines = files.scan_lines(path).filter(pl.col(ROW) >= layout.skip_lines)
        frame = lines.select(pl.col(ROW) - layout.skip_lines, fields.alias("fields")).unnest("fields")
    present = pl.any_horizontal(pl.col(name).is_not_null() for name in names)
    raw = pl.concat_str([pl.col(name).fill_null("") for name in layout.columns], separator=layout.delimiter)
    fault = pl.when(pl.col(REST).is_not_null()).then(pl.lit(0, pl.UInt8))
    frame = frame.filter(present).with_columns(raw.alias(RAW))
    if quotes or not layout.quotes:
        return frame.with_columns(fault.alias(FAULT))
    paired = [pl.col(name).str.replace('^"(.*)"$', "${1}") for name in layout.columns]
    single = pl.any_horizontal(pl.col(name).str.contains('^"|"$') for name in layout.columns)
    return frame.with_columns(paired).with_columns(
        fault.otherwise(pl.when(single).then(pl.lit(1, pl.UInt8))).alias(FAULT)
    )


def _item_rows(path: Path, layout: Layout) -> Iterator[ItemRow]:
    lines = files.lines(path, layout.encoding)
    records = _records(lines, layout.delimiter) if layout.quotes else _plain_records(lines, layout.delimiter)
    width = len(layout.columns)
    for row, raw, fields in records:
        if row <= layout.skip_lines or not raw.strip():
            continue
        if fields is None:
            yield ItemRow(row, raw, None, UNPAIRED)
        elif len(fields) > width and any(fields[width:]):
            yield ItemRow(row, raw, None, f"has more fields than the {width} columns")
        else:
            yield ItemRow(row, raw, dict(zip(layout.columns, fields, strict=False)))


def _plain_records(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[tuple[int, str, list[str]]]:
    for row, line in lines:
        yield row, line, line.split(delimiter)


def _records(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[tuple[int, str, list[str] | None]]:
    """Records with the number of their first line; of an unclosed quotation only that line is lost."""
    waiting: deque[tuple[int, str]] = deque()
    taken: list[tuple[int, str]] = []

    def source() -> Iterator[str]:
        while True:
            pair = waiting.popleft() if waiting else next(lines, None)
            if pair is None:
                return
            taken.append(pair)
            yield pair[1] + "\n"

    while True:
        taken.clear()
        try:
            fields = next(csv.reader(source(), delimiter=delimiter), None)
        except csv.Error:  # longer than any field may be: most likely a quotation that never ends
            fields = None
        if not taken:
            return
        row, raw = taken[0]
        text = "\n".join(line for _, line in taken)
        if len(taken) > 1 and (not fields or text.count('"') % 2):
            waiting.extendleft(reversed(taken[1:]))
            yield row, raw, None
        else:
            yield row, text, fields or None
