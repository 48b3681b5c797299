"""Published figures, to be set beside ours: ``published.csv`` next to this file.

``source`` is a publication and, after a comma, its table. ``level`` is the one of our readings that comes
nearest to how a figure was counted. Methods that rank item ids count items; LLaDA-Rec, DiffGRM, OneGR and
SPRINT count codes. The rows of GRU4Rec, SASRec and BERT4Rec on the sets of 2014 are those of S3-Rec, whose code
takes seen items out; all others exclude nothing.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from sprintrec.report.board import Board

PROTOCOL = "last-out"  # all of them


@dataclass(frozen=True)
class Published:
    """One method on one data set, counted one way."""

    dataset: str
    method: str
    level: str
    source: str
    values: dict[str, float] = field(default_factory=dict)  # "recall@5" -> value


@cache
def all_published() -> tuple[Published, ...]:
    found: dict[tuple[str, str, str], Published] = {}
    with (files("sprintrec.report") / "published.csv").open(encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            key = line["dataset"], line["method"], line["level"]
            one = found.setdefault(key, Published(*key, source=line["source"].partition(", ")[0]))
            one.values[line["metric"]] = float(line["value"])
    return tuple(found.values())


def published(board: Board, method: str) -> list[Published]:
    """What was published of a method on a board's data set."""
    if board.protocol != PROTOCOL:
        return []
    wanted = board.dataset, _plain(method)
    return [one for one in all_published() if (one.dataset, _plain(one.method)) == wanted]


def _plain(method: str) -> str:
    """LLaDA-Rec, llada_rec and lladarec are one."""
    return "".join(filter(str.isalnum, method.lower()))
