"""What a method is: settings, fit, recommend, save, load, and flags that say what it can do.

A method lives in one file of ``methods/`` and is found by the file's name. Its class derives from
``Method``; it sees integers only, past events only, and answers with rankings only.
"""

from __future__ import annotations

import dataclasses
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sprintrec.errors import Mistake, nearest
from sprintrec.records import Histories, Past, Rankings

Scores = Mapping[str, float]

ASKED_AT_ONCE = 1024  # questions of one block where a method scores with numpy,
SCORES_AT_ONCE = 4_000_000  # and the scores of a block


@dataclass(frozen=True)
class Run:
    """How a run goes, as opposed to what the model is."""

    device: str = "cpu"
    seed: int = 0
    precision: str = "float32"  # or "bfloat16": autocast where the device gains from it
    checkpoints: Path | None = None  # folder of the resumable state; None keeps none
    checkpoint_seconds: float = 60.0  # how often inside an epoch; after every epoch in any case
    time_limit: float | None = None  # seconds of training, then the best so far is kept
    on_epoch: Callable[[Mapping[str, Any]], None] = lambda record: None  # one record per finished epoch
    on_step: Callable[[int, int, float], None] = lambda step, steps, seconds: None


class Method(ABC):
    """One way to recommend. Subclasses set the class variables and write the four underscored hooks."""

    Settings: ClassVar[type]  # a frozen dataclass; every field has a default
    uses_codes: ClassVar[bool] = False  # needs Past.codes
    uses_vectors: bool = False  # needs Past.vectors; settings may decide
    ranks_cold_items: bool = False  # settings may decide: can rank items that never occur in training
    trained_by_gradient: ClassVar[bool] = False

    def __init__(self, settings: Any = None) -> None:
        self.settings = self.Settings() if settings is None else settings

    @classmethod
    def name(cls) -> str:
        return cls.__module__.rsplit(".", 1)[-1]

    def fit(self, past: Past, validate: Callable[[Method], Scores] | None = None, run: Run | None = None) -> Method:
        """Learn from the past. ``validate`` scores the method as it stands, for early stopping."""
        if self.uses_codes and past.codes is None:
            raise Mistake(f"method '{self.name()}' needs item codes: make them with 'sprintrec codes'")
        if self.uses_vectors and past.vectors is None:
            raise Mistake(f"method '{self.name()}' needs item vectors: prepare with --texts or --vectors")
        self._fit(past, validate, run or Run())
        return self

    def recommend(self, histories: Histories, k: int = 10, exclude_seen: bool = True) -> Rankings:
        """The best k items for every history; without those in the history unless told otherwise."""
        if k < 1:
            raise Mistake(f"k must be at least 1, not {k}")
        return self._recommend(histories, k, exclude_seen)

    @abstractmethod
    def _fit(self, past: Past, validate: Callable[[Method], Scores] | None, run: Run) -> None: ...

    @abstractmethod
    def _recommend(self, histories: Histories, k: int, exclude_seen: bool) -> Rankings: ...

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """All that was learnt, as named arrays."""

    @abstractmethod
    def restore(self, state: Mapping[str, np.ndarray], past: Past) -> None:
        """Take over what ``state`` gave; ``past`` may have no events but knows items, codes and vectors."""

    def parameter_count(self) -> int:
        return sum(array.size for array in self.state().values())


def method_names() -> list[str]:
    """Every method there is: the public file names in ``methods/``."""
    return sorted(file.stem for file in (Path(__file__).parent / "methods").glob("[!_]*.py"))


def find_method(name: str) -> type[Method]:
    """The class of a method, imported only now, so that a missing library breaks one method alone."""
    if name not in method_names():
        raise Mistake(f"unknown method '{name}': {nearest(name, method_names())}")
    module = importlib.import_module(f"sprintrec.methods.{name}")
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Method) and value.__module__ == module.__name__
    ]
    if len(found) != 1 or not dataclasses.is_dataclass(found[0].Settings):
        raise TypeError(f"methods/{name}.py must define exactly one Method with a settings dataclass")
    return found[0]


def ranked(
    histories: Histories, k: int, exclude_seen: bool, tie_rank: np.ndarray, scores_of: Callable[[Histories], np.ndarray]
) -> Rankings:
    """The lists of a method that scores every item with numpy: ``scores_of`` gives float32 [questions, items].

    Questions are asked a block at a time, so memory stays bounded however many there are.
    """
    answer = Rankings(np.empty((len(histories), k), np.int32), np.empty((len(histories), k), np.float32))
    assert answer.scores is not None
    rows = min(ASKED_AT_ONCE, max(1, SCORES_AT_ONCE // len(tie_rank)))
    for start in range(0, len(histories), rows):
        block = histories.slice(start, start + rows)
        scores = scores_of(block)
        if exclude_seen:
            mask_seen(scores, block)
        best = top_k(scores, k, tie_rank)
        answer.items[start : start + rows], answer.scores[start : start + rows] = best.items, best.scores
    return answer


def top_k(scores: np.ndarray, k: int, tie_rank: np.ndarray) -> Rankings:
    """The k best of every row, best first; ties by ascending ``tie_rank``; -inf is never returned.

    Exact also where a tie lies across place k. Scores are compared as float32, the form in which they are
    returned, so that what looks equal in the answer is ordered by the rule.
    """
    by_tie = np.argsort(tie_rank, kind="stable")
    place = np.empty(len(by_tie), np.int64)
    place[by_tie] = np.arange(len(by_tie))
    # Adding zero turns -0 into 0; fmax turns what is no number into -inf.
    values = np.fmax(scores, -np.inf).astype(np.float32) + np.float32(0)
    # One integer per score that sorts by descending score, then ascending place: the bits of positive floats
    # sort as integers do, those of negative ones once all but the sign are flipped.
    bits = values.view(np.int32)
    keys = (~(bits ^ ((bits >> 31) & 0x7FFFFFFF))).astype(np.int64) << 32 | place
    kept = min(k, scores.shape[1])
    if kept < scores.shape[1]:
        keys.partition(kept - 1, axis=1)
    best = by_tie[np.sort(keys[:, :kept], axis=1) & 0xFFFFFFFF]
    found = np.take_along_axis(values, best, axis=1)
    short = ((0, 0), (0, k - kept))
    return Rankings(
        np.pad(np.where(found > -np.inf, best, -1).astype(np.int32), short, constant_values=-1),
        np.pad(found, short, constant_values=-np.inf),
    )


def popularity_order(popularity: np.ndarray) -> np.ndarray:
    """Each item's place by training count, most popular first, equal counts by row: the rule for ties."""
    rank = np.empty(len(popularity), np.int64)
    rank[np.lexsort((np.arange(len(popularity)), -popularity))] = np.arange(len(popularity))
    return rank


def mask_seen(scores: np.ndarray, histories: Histories) -> None:
    """Set the scores of every history's own items to -inf, in place."""
    scores[histories.row_of_each(), histories.items] = -np.inf


def without_repeats(histories: Histories) -> Histories:
    """Every item of a row once, at its last place."""
    rows = histories.row_of_each()
    backwards = (rows * (histories.items.max(initial=0) + np.int64(1)) + histories.items)[::-1]
    kept = np.sort(len(rows) - 1 - np.unique(backwards, return_index=True)[1])
    lengths = np.bincount(rows[kept], minlength=len(histories))
    return Histories(histories.items[kept], np.concatenate([[0], np.cumsum(lengths)]))


def latest(histories: Histories, count: int) -> Histories:
    """The last ``count`` items of every row."""
    kept = np.repeat(histories.offsets[1:], histories.lengths) - np.arange(len(histories.items)) <= count
    lengths = np.minimum(histories.lengths, count)
    return Histories(histories.items[kept], np.concatenate([[0], np.cumsum(lengths)]))
