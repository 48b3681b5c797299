"""What makes a row of events unreadable, and what becomes of such rows.

A row is refused for the first fault that it has. Refused rows are counted by fault, the first of them are
kept to be shown, all of them go to the reject file where one is wanted, and too many of them end the reading.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sprintrec.errors import Mistake
from sprintrec.tables.columns import Choice
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import FAULT, ITEM, RATING, RAW, ROW, TICKS, USER, Table
from sprintrec.tables.times import EXPECTED

LONGEST_ID = 1000  # bytes; longer is a broken row and no id
SHOWN_EXAMPLES = 10  # of each fault
SHOWN_CHARACTERS = 60
MOST_KEPT = 1_000_000  # refused rows that are kept
KEPT_CHARACTERS = 1000  # of each


@dataclass(frozen=True)
class Fault:
    """One way in which a row can be unreadable."""

    bad: pl.Expr
    column: str
    what: str  # goes on from "column 'x' ..."
    fix: str

    def __str__(self) -> str:
        return f"column '{self.column}' {self.what}" if self.column else f"the row {self.what}"


@dataclass(frozen=True)
class Reject:
    """One refused row."""

    source: str
    row: int
    fault: str
    fix: str
    value: str  # what the faulty column holds
    raw: str

    @property
    def problem(self) -> str:
        return f"{self.fault}: {_shortened(self.value)!r}" if self.value else self.fault

    def __str__(self) -> str:
        return f"{self.source}, row {self.row}: {self.problem} ({self.fix})"


@dataclass(frozen=True)
class Rejects:
    """What was refused of one kind of rows ("rows" of events, "items")."""

    kind: str
    total: int  # rows looked at
    refused: int = 0
    rows: Sequence[Reject] = ()  # the refused ones, all but what is past MOST_KEPT

    @property
    def counts(self) -> Mapping[str, int]:
        return Counter(reject.fault for reject in self.rows)

    def examples(self) -> list[Reject]:
        """The first few rows of every fault."""
        seen: Counter[str] = Counter()
        shown = []
        for reject in self.rows:
            seen[reject.fault] += 1
            if seen[reject.fault] <= SHOWN_EXAMPLES:
                shown.append(reject)
        return shown

    def as_json(self) -> dict[str, object]:
        rows = [{"file": one.source, "row": one.row, "problem": one.problem, "fix": one.fix} for one in self.examples()]
        return {
            "kind": self.kind,
            "total": self.total,
            "refused": self.refused,
            "counts": self.counts,
            "examples": rows,
        }

    def sentence(self) -> str:
        reasons = "; ".join(f"{count:,} where {fault}" for fault, count in self.counts.items())
        return f"{self.refused:,} of {self.total:,} {self.kind} can't be read and are left out: {reasons}."


class TooManyRejects(Mistake):
    """More rows are unreadable than the options allow."""

    def __init__(self, rejects: Rejects, others: Sequence[Rejects], options: ReadOptions) -> None:
        self.share = (
            f"{rejects.refused:,} of {rejects.total:,} {rejects.kind} can't be read: "
            f"{rejects.refused / rejects.total:.1%}, where --allow-bad allows {options.allow_bad:.1%}"
        )
        first = "; ".join(map(str, rejects.rows[:3]))
        super().__init__(f"{self.share}. First: {first}. {options.rejects or '--rejects FILE'} lists them all")
        self.all = others


def faults_of(table: Table, choice: Choice, timed: bool, rated: bool) -> list[Fault]:
    """All faults that rows of a file can have, as conditions on the columns made for the roles."""
    faults = [Fault(pl.col(FAULT) == at, "", what, fix) for at, (what, fix) in enumerate(table.faults)]
    for column, text in ((choice.user, pl.col(USER)), (choice.item, pl.col(ITEM))):
        faults += [
            Fault(text.is_null(), column, "is blank", "fill it in or delete the row"),
            Fault(
                text.str.len_bytes() > LONGEST_ID,
                column,
                f"is longer than {LONGEST_ID} bytes",
                "shorten it, or name the column of the ids",
            ),
            Fault(text.str.contains("\n", literal=True), column, "runs over a line end", "close the quotation before"),
            Fault(text.str.contains("\ufffd", literal=True), column, "isn't UTF-8", "save the file as UTF-8"),
        ]
    if timed:
        faults.append(Fault(pl.col(TICKS).is_null(), str(choice.time), "is no time stamp", f"give {EXPECTED}"))
    if rated:
        faults.append(Fault(pl.col(RATING).is_null(), str(choice.rating), "is no number", "give a number"))
    return faults


def first_that_holds(conditions: Iterable[pl.Expr], start: int) -> pl.Expr:
    """``start`` and up for the first condition that holds, null where none does."""
    numbered = [pl.when(one).then(pl.lit(number, pl.UInt8)) for number, one in enumerate(conditions, start)]
    return pl.coalesce(*numbered) if numbered else pl.lit(None, pl.UInt8)


def refused(table: Table, frame: pl.LazyFrame, faults: Sequence[Fault]) -> list[Reject]:
    """The refused rows of a file: a second pass, made only where the first one found some."""
    values = [pl.col(fault.column or RAW).cast(pl.String) for fault in faults]
    number = first_that_holds((fault.bad for fault in faults), 0).alias("fault")
    value = pl.coalesce(*(pl.when(pl.col("fault") == at).then(one) for at, one in enumerate(values)))
    rows = (
        frame.with_columns(number)
        .filter(pl.col("fault").is_not_null())
        .head(MOST_KEPT)
        .select(
            pl.col(ROW), "fault", value.str.head(KEPT_CHARACTERS).alias("value"), pl.col(RAW).str.head(KEPT_CHARACTERS)
        )
        .collect(engine="streaming")
    )
    return [
        Reject(table.source, row + table.first_row, str(faults[at]), faults[at].fix, value or "", raw or "")
        for row, at, value, raw in rows.iter_rows()
    ]


def enforce(rejects: Sequence[Rejects], options: ReadOptions) -> None:
    """Raise if of any kind more rows are refused than the options allow."""
    for some in rejects:
        if some.total and some.refused / some.total > options.allow_bad:
            raise TooManyRejects(some, rejects, options)


def write_rejects(path: Path, rejects: Sequence[Reject]) -> None:
    """The reject file: where each refused row stands, why it was refused, and its text."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("file", "row", "reason", "text"))
        writer.writerows((reject.source, reject.row, reject.fault, reject.raw) for reject in rejects)


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
