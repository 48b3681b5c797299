"""Popular items: everybody gets those with the most training events, without what they have seen.

Source: the yardstick of every comparison; nothing to cite. ``half_life_days`` is a departure from the
plain count for logs with times: what was popular lately counts more. Off by default, as in papers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sprintrec.errors import Mistake
from sprintrec.method import Method, Run, Scores, popularity_order, ranked
from sprintrec.records import Events, Histories, Past, Rankings

SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class Settings:
    half_life_days: float | None = None
    """an event counts half after so many days before the last one of the log; none counts all alike"""

    def __post_init__(self) -> None:
        if self.half_life_days is not None and self.half_life_days <= 0:
            raise Mistake(f"setting 'half_life_days' must be above 0, not {self.half_life_days:g}")


class Popular(Method):
    Settings = Settings

    def _fit(self, past: Past, validate: Callable[[Method], Scores] | None, run: Run) -> None:
        weights = event_weights(past.events, self.settings.half_life_days)
        recent = np.bincount(past.events.items, weights, minlength=past.item_count)
        self._take(recent.astype(np.float32), past.popularity())

    def _recommend(self, histories: Histories, k: int, exclude_seen: bool) -> Rankings:
        return ranked(histories, k, exclude_seen, self.tie_rank, lambda block: np.tile(self.scores, (len(block), 1)))

    def state(self) -> dict[str, np.ndarray]:
        return {"scores": self.scores, "popularity": self.popularity}

    def restore(self, state: Mapping[str, np.ndarray], past: Past) -> None:
        self._take(state["scores"], state["popularity"])

    def _take(self, scores: np.ndarray, popularity: np.ndarray) -> None:
        self.scores, self.popularity, self.tie_rank = scores, popularity, popularity_order(popularity)


def event_weights(events: Events, half_life_days: float | None) -> np.ndarray:
    """What every event counts: 1, or 1/2 to the power of its age in half-lives."""
    if half_life_days is None:
        return np.ones(len(events.items))
    if events.times is None:
        raise Mistake("setting 'half_life_days' needs times, and this log has none: leave it at none")
    age = events.times.max(initial=0) - events.times
    return np.exp2(-age / (half_life_days * SECONDS_PER_DAY))
