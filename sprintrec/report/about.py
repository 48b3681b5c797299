"""What a report tells that its rows do not know: how the log was made, what the audit found, cases with titles.

All of it may be missing; the report then says nothing of it, or that it was not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sprintrec.metrics import ABSENT
from sprintrec.records import HeldOut, Rankings

CASES = 10  # of each kind
GOOD_RANK, BAD_RANK = 5, 100  # a case is good up to here, bad from here on
TOP = 5


@dataclass(frozen=True)
class Case:
    """One user's question and what was answered, in titles."""

    history: Sequence[str]  # oldest first
    target: str
    rank: int  # ABSENT where the target was not listed
    top: Sequence[str]  # the best recommendations, best first


@dataclass(frozen=True)
class Cases:
    """Some of a method's answers, drawn by chance among its good and among its bad ones."""

    method: str
    good: Sequence[Case] = ()
    bad: Sequence[Case] = ()


@dataclass(frozen=True)
class Background:
    """What surrounds the rows of one data set under one protocol."""

    notes: Sequence[str] = ()  # sentences on how the log was read, filtered and thinned
    repeat_share: float | None = None  # events that repeat an item of the user's own past
    audit: Sequence[str] = ()  # sentences of the leak audit
    codes: Sequence[Mapping[str, Any]] = ()  # quality reports of code tables
    cases: Cases | None = None


@dataclass(frozen=True)
class ReportInput:
    """Everything a report is given besides rows."""

    title: str | None = None
    command: str | None = None  # what to type to make all of it again
    backgrounds: Mapping[tuple[str, str], Background] = field(default_factory=dict)  # by data set and protocol


def draw_cases(
    method: str, ranks: np.ndarray, asked: HeldOut, shown: Rankings, titles: Sequence[str], seed: int = 0
) -> Cases:
    """Ten questions whose target came among the first 5 and ten where it came after 100, drawn, not chosen."""
    random = np.random.default_rng(seed)

    def drawn(fitting: np.ndarray) -> list[Case]:
        rows = np.flatnonzero(fitting)
        return [case(row) for row in sorted(random.choice(rows, min(CASES, len(rows)), replace=False))]

    def case(row: int) -> Case:
        top = [titles[item] for item in shown.items[row, :TOP] if item >= 0]
        history = [titles[item] for item in asked.histories.row(row)]
        return Case(history, titles[asked.targets[row]], int(ranks[row]), top)

    return Cases(method, drawn(ranks <= GOOD_RANK), drawn((ranks > BAD_RANK) | (ranks == ABSENT)))
