"""EASE: the linear item-to-item model that best rebuilds every user's items, in closed form.

Source: Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019. With X the 0/1 matrix of
users and items and P = (X'X + penalty)^-1, the weights are B_ij = -P_ij / P_jj off the diagonal and 0 on
it, and a history scores x B. The penalty of 500 is the paper's on MovieLens-20M. Departures: only items
of the training events are in the matrix, at most ``max_items`` of them; all others come after these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sprintrec.errors import Mistake
from sprintrec.method import Method, Run, Scores, latest, popularity_order, ranked, without_repeats
from sprintrec.records import Histories, Past, Rankings

LARGEST = 25_000  # items in the matrix
INVERTING = 32  # bytes per entry at the peak: the matrix, its factors, the right-hand side and the answer
OUTSIDE = np.finfo(np.float32).min  # the score of an item that is not in the matrix: the lowest there is


@dataclass(frozen=True)
class Settings:
    penalty: float = 500.0
    """what the diagonal of X'X is raised by; more forgets rare pairs"""
    max_items: int | None = None
    """only so many of the most popular items are in the matrix; none takes all of the training events"""
    history: int | None = None
    """last items of a question that are read; none reads all"""

    def __post_init__(self) -> None:
        if self.penalty <= 0:
            raise Mistake(f"setting 'penalty' must be above 0, not {self.penalty:g}")
        for name in ("max_items", "history"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise Mistake(f"setting '{name}' must be at least 1, not {value}")


class EASE(Method):
    Settings = Settings

    def _fit(self, past: Past, validate: Callable[[Method], Scores] | None, run: Run) -> None:
        popularity = past.popularity()
        most_popular = np.argsort(popularity_order(popularity))[: np.count_nonzero(popularity)]
        items = most_popular[: self.settings.max_items]
        if len(items) > LARGEST:
            needed = INVERTING * len(items) ** 2 / 1e9
            raise Mistake(
                f"ease inverts a matrix of {len(items):,} x {len(items):,} items, about {needed:,.0f} GB:"
                f" set max_items to {LARGEST} or less to keep the most popular ones, or take itemknn"
            )
        self._take(closed_form(past, items, self.settings.penalty), items, popularity)

    def _recommend(self, histories: Histories, k: int, exclude_seen: bool) -> Rankings:
        return ranked(histories, k, exclude_seen, self.tie_rank, self._scores)

    def _scores(self, block: Histories) -> np.ndarray:
        """x B for every history, [questions, items].

        Rows are added one history place after the other and not by a matrix product, whose rounding
        depends on how many questions are asked at once.
        """
        if self.settings.history is not None:
            block = latest(block, self.settings.history)
        known = known_only(without_repeats(block), self.column)
        sums = np.zeros((len(block), len(self.items)), np.float32)
        for place in range(known.lengths.max(initial=0)):
            rows = np.flatnonzero(known.lengths > place)
            sums[rows] += self.weights[known.items[known.offsets[rows] + place]]
        scores = np.full((len(block), len(self.column)), OUTSIDE)
        scores[:, self.items] = sums
        return scores

    def state(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "items": self.items, "popularity": self.popularity}

    def restore(self, state: Mapping[str, np.ndarray], past: Past) -> None:
        self._take(state["weights"], state["items"], state["popularity"])

    def _take(self, weights: np.ndarray, items: np.ndarray, popularity: np.ndarray) -> None:
        self.weights, self.items, self.popularity = weights, items, popularity
        self.tie_rank = popularity_order(popularity)
        self.column = columns_of(items, len(popularity))


def closed_form(past: Past, items: np.ndarray, penalty: float) -> np.ndarray:
    """The weights B of some items, float32 [items, items]."""
    log = known_only(without_repeats(past.events), columns_of(items, past.item_count))
    gram = np.zeros((len(items), len(items)))
    for user in range(len(log)):
        columns = log.row(user)
        gram[np.ix_(columns, columns)] += 1
    gram[np.diag_indices_from(gram)] += penalty
    inverse = np.linalg.inv(gram)
    weights = (inverse / -np.diag(inverse)).astype(np.float32)
    np.fill_diagonal(weights, 0)
    return weights


def columns_of(items: np.ndarray, item_count: int) -> np.ndarray:
    """Each item's column of the matrix, -1 for an item that has none."""
    column = np.full(item_count, -1, np.int32)
    column[items] = np.arange(len(items))
    return column


def known_only(histories: Histories, column: np.ndarray) -> Histories:
    """Histories of columns instead of items, without the items that have none."""
    columns = column[histories.items]
    kept = columns >= 0
    lengths = np.bincount(histories.row_of_each()[kept], minlength=len(histories))
    return Histories(columns[kept], np.concatenate([[0], np.cumsum(lengths)]))
