"""Saved rows put in order: one board per data set and protocol, one entry per recipe, its seeds together.

Only rows that answered the same questions may stand on one board: a figure on another log is not a better
or a worse one, it is another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sprintrec.audit import REPEATS_MATTER
from sprintrec.errors import Mistake
from sprintrec.metrics import RANK_METRICS
from sprintrec.report.about import Background
from sprintrec.report.words import PROTOCOL_TITLES
from sprintrec.rows import Row, read_curve, read_ranks, read_rows
from sprintrec.significance import over_seeds

LEVELS = ("item", "item_seen_kept", "code")
HEADLINE_METRIC = "ndcg@10"


@dataclass(frozen=True)
class SavedRow:
    """A row with what lies beside it."""

    row: Row
    ranks: Mapping[str, np.ndarray] = field(default_factory=dict)  # level -> rank per user; empty where not kept
    curve: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Figure:
    """A metric of an entry: the mean over its seeds, the interval over users, the spread over seeds."""

    mean: float
    interval: tuple[float, float] | None  # the mean of the seeds' intervals
    deviation: float | None


@dataclass(frozen=True)
class Entry:
    """A method under one recipe."""

    label: str
    runs: tuple[SavedRow, ...]  # one per seed

    @property
    def row(self) -> Row:
        """The first seed's row: for what all seeds share."""
        return self.runs[0].row

    @property
    def seeds(self) -> int:
        return len(self.runs)

    def has(self, level: str) -> bool:
        return all(run.row[level] is not None for run in self.runs)

    def figure(self, level: str, metric: str) -> Figure:
        spread = over_seeds([run.row[level][metric] for run in self.runs])
        ends = [run.row.get("intervals", {}).get(level, {}).get(metric) for run in self.runs]
        known = [end for end in ends if end is not None]
        low, high = np.mean(known, axis=0).tolist() if known else (0.0, 0.0)
        return Figure(spread.mean, (low, high) if len(known) == self.seeds else None, spread.deviation)

    def per_user(self, level: str, metric: str) -> np.ndarray | None:
        """The metric of every user, averaged over seeds; None where a seed's ranks were not kept."""
        if not all(level in run.ranks for run in self.runs):
            return None
        name, cut = metric.split("@")
        return np.mean([RANK_METRICS[name](run.ranks[level], int(cut)) for run in self.runs], axis=0)


@dataclass(frozen=True)
class Board:
    """All that was measured on one data set under one protocol."""

    dataset: str
    protocol: str
    entries: tuple[Entry, ...]
    background: Background = field(default_factory=Background)

    @property
    def place(self) -> str:
        return f"{self.dataset}, {PROTOCOL_TITLES.get(self.protocol, self.protocol)}"

    @property
    def users(self) -> int:
        return int(self.entries[0].row["questions"]["test"])

    @property
    def repeat_share(self) -> float | None:
        """Events that repeat an item of the user's own past, as told beside the rows or by a row itself."""
        told = self.background.repeat_share
        rows = (entry.row.get("repeats") for entry in self.entries)
        return told if told is not None else next((share for share in rows if share is not None), None)

    @property
    def headline(self) -> str:
        """The level that comes first: where people take things again, seen items must stay in."""
        repeats = self.repeat_share
        return "item_seen_kept" if repeats is not None and repeats > REPEATS_MATTER else "item"

    def ranked(self, level: str, metric: str = HEADLINE_METRIC) -> list[Entry]:
        """The entries measured at a level, best first; equals in order of their labels."""
        measured = [entry for entry in self.entries if entry.has(level)]
        return sorted(measured, key=lambda entry: (-entry.figure(level, metric).mean, entry.label))


def read_saved(*places: str | Path) -> list[SavedRow]:
    """All rows below some folders: of a whole ``--out`` folder, of one data set, or of one method."""
    saved: list[SavedRow] = []
    for place in map(Path, places):
        root, rows = _rows_below(place)
        if not rows:
            raise Mistake(f"{place} holds no result rows: name a folder that 'sprintrec.experiment --out' filled")
        saved += [SavedRow(row, _ranks(root, row), read_curve(root, row)) for row in rows]
    return saved


def boards(saved: Iterable[SavedRow], backgrounds: Mapping[tuple[str, str], Background] | None = None) -> list[Board]:
    """The rows by data set and protocol, in the order in which these first occur."""
    groups: dict[tuple[str, str], list[SavedRow]] = {}
    for run in saved:
        groups.setdefault((run.row["dataset"], run.row["protocol"]), []).append(run)
    if not groups:
        raise Mistake("there are no result rows to report: measure a method first")
    known = backgrounds or {}
    return [_board(*key, runs, known.get(key, Background())) for key, runs in groups.items()]


def _rows_below(place: Path) -> tuple[Path, list[Row]]:
    """The rows of a place, and the folder of all rows that it lies in."""
    for depth, keys in enumerate(((), ("dataset",), ("dataset", "method"))):
        path = place if depth == 0 else place.absolute()
        names = path.parts[len(path.parts) - depth :]
        root = path if depth == 0 else path.parents[depth - 1]
        rows = read_rows(root, **dict(zip(keys, names, strict=True)))
        if rows:
            return root, rows
    return place, []


def _ranks(root: Path, row: Row) -> Mapping[str, np.ndarray]:
    try:
        return read_ranks(root, row)
    except Mistake:
        return {}


def _board(dataset: str, protocol: str, runs: Sequence[SavedRow], background: Background) -> Board:
    place = f"{dataset} ({protocol})"
    recipes: dict[tuple[str, str], dict[int, SavedRow]] = {}
    for run in runs:
        row = run.row
        seeds = recipes.setdefault((row["method"], row["recipe"]), {})
        if row["seed"] in seeds:
            raise Mistake(f"recipe '{row['recipe']}', seed {row['seed']}, on {place} is there twice: leave one row out")
        seeds[row["seed"]] = run
    _same(place, "logs", (run.row["data_hash"] for run in runs))
    for (_, recipe), seeds in recipes.items():
        tables = (run.row["codes"]["hash"] for run in seeds.values() if run.row["codes"])
        _same(f"{place}, recipe '{recipe}',", "code tables", tables)
    methods = [method for method, _ in recipes]
    entries = [
        Entry(_label(method, recipe, methods.count(method)), tuple(seeds[seed] for seed in sorted(seeds)))
        for (method, recipe), seeds in recipes.items()
    ]
    return Board(dataset, protocol, tuple(entries), background)


def _same(where: str, what: str, hashes: Iterable[str]) -> None:
    found = sorted(set(hashes))
    if len(found) > 1:
        raise Mistake(f"the rows of {where} come from different {what} ({', '.join(found)}): compare them one by one")


def _label(method: str, recipe: str, recipes_of_method: int) -> str:
    """The method alone where that is clear, else with its recipe."""
    if recipes_of_method == 1:
        return method
    return recipe if recipe.startswith(method) else f"{method} ({recipe})"
