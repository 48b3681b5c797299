"""Item neighbours: items met together in training; a history adds up the neighbours of its last items.

Source: Sarwar et al., WWW 2001, and Deshpande & Karypis, ACM TOIS 2004. With n_i the users of item i:

    together  c_ij / (sqrt(n_i n_j) + shrinkage), c_ij the users who had both: the cosine of the items
    after     a_ij / (n_i + shrinkage), a_ij the sum over users who had j within ``history`` places after i
              of fading^(places - 1): a Markov chain whose steps fade with distance

Shrinkage and the 100 neighbours are the customary ones. Departures: a user counts an item once, at its
last place; only the last ``history`` items of a question are read, as sequential methods do, and with
``recency`` the newest of them count most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sprintrec.errors import Mistake
from sprintrec.method import Method, Run, Scores, latest, popularity_order, ranked, without_repeats
from sprintrec.records import Histories, Past, Rankings


@dataclass(frozen=True)
class Settings:
    pairs: Literal["together", "after"] = "together"
    """items of one user in any order and at any distance, or the later one after the earlier one"""
    fading: float = 0.8
    """with ``after``: what a pair counts one place farther apart"""
    shrinkage: float = 10.0
    """added to the denominator: what was seen once or twice counts little"""
    neighbours: int = 100
    """most similar items kept per item"""
    history: int = 20
    """last items of a question that are read; with ``after`` also how far pairs reach"""
    recency: float = 1.0
    """what an item of the question counts one place farther back; 1 counts all alike"""

    def __post_init__(self) -> None:
        for name, least in (("shrinkage", 0), ("neighbours", 1), ("history", 1)):
            if getattr(self, name) < least:
                raise Mistake(f"setting '{name}' must be at least {least}, not {getattr(self, name):g}")
        for name in ("fading", "recency"):
            if not 0 < getattr(self, name) <= 1:
                raise Mistake(f"setting '{name}' must be above 0 and at most 1, not {getattr(self, name):g}")


class ItemKNN(Method):
    Settings = Settings

    def _fit(self, past: Past, validate: Callable[[Method], Scores] | None, run: Run) -> None:
        popularity = past.popularity()
        tie_rank = popularity_order(popularity)
        kept = min(self.settings.neighbours, past.item_count)
        neighbours = np.zeros((past.item_count, kept), np.int32)
        similarities = np.zeros((past.item_count, kept), np.float32)  # 0 where an item has fewer neighbours
        for item, others, similarity in similar_items(past, self.settings):
            best = np.lexsort((tie_rank[others], -similarity))[:kept]
            neighbours[item, : len(best)], similarities[item, : len(best)] = others[best], similarity[best]
        self._take(neighbours, similarities, popularity)

    def _recommend(self, histories: Histories, k: int, exclude_seen: bool) -> Rankings:
        return ranked(histories, k, exclude_seen, self.tie_rank, self._scores)

    def _scores(self, block: Histories) -> np.ndarray:
        """The summed similarities [questions, items]; 0 without a neighbour, so popular items follow."""
        read, item_count = latest(block, self.settings.history), len(self.neighbours)
        rows = read.row_of_each()
        back = read.offsets[1:][rows] - 1 - np.arange(len(rows))
        cells = rows[:, None] * item_count + self.neighbours[read.items]
        added = self.similarities[read.items] * (self.settings.recency**back)[:, None]
        sums = np.bincount(cells.reshape(-1), added.reshape(-1), minlength=len(block) * item_count)
        return sums.reshape(len(block), item_count).astype(np.float32)

    def state(self) -> dict[str, np.ndarray]:
        return {"neighbours": self.neighbours, "similarities": self.similarities, "popularity": self.popularity}

    def restore(self, state: Mapping[str, np.ndarray], past: Past) -> None:
        self._take(state["neighbours"], state["similarities"], state["popularity"])

    def _take(self, neighbours: np.ndarray, similarities: np.ndarray, popularity: np.ndarray) -> None:
        self.neighbours, self.similarities = neighbours, similarities
        self.popularity, self.tie_rank = popularity, popularity_order(popularity)


def similar_items(past: Past, settings: Settings) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Every item that was met with others: (item, the others in ascending order, their similarities as float32).

    One item at a time, so that memory holds the pairs of one item and never items x items.
    """
    log, directed = without_repeats(past.events), settings.pairs == "after"
    users_of = np.bincount(log.items, minlength=past.item_count)
    places = np.split(np.argsort(log.items, kind="stable"), np.cumsum(users_of)[:-1])
    starts, stops = partner_spans(log, settings)
    for item, at in enumerate(places):
        lengths = stops[at] - starts[at]
        partners = np.arange(lengths.sum()) + np.repeat(starts[at] - np.cumsum(lengths) + lengths, lengths)
        distance = partners - np.repeat(at, lengths)
        counts = settings.fading ** (distance - 1.0) if directed else distance != 0
        others, slot = np.unique(log.items[partners], return_inverse=True)
        met = np.bincount(slot, counts, minlength=len(others))
        others, met = others[met > 0], met[met > 0]
        norm = users_of[item] if directed else np.sqrt(users_of[item] * users_of[others])
        yield item, others, (met / (norm + settings.shrinkage)).astype(np.float32)


def partner_spans(log: Histories, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Per event the flat span of the events it is paired with; itself included with ``together``."""
    begins, ends = (np.repeat(bounds, log.lengths) for bounds in (log.offsets[:-1], log.offsets[1:]))
    if settings.pairs == "together":
        return begins, ends
    after = np.arange(1, len(log.items) + 1)
    return after, np.minimum(after + settings.history, ends)
