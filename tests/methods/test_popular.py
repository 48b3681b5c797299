"""Popular items refuse a half-life that means nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.methods.popular import Popular, Settings, event_weights
from sprintrec.records import Events, Past


@pytest.mark.parametrize("days", [0.0, -1.0])
def test_a_half_life_is_above_zero(days: float) -> None:
    with pytest.raises(Mistake, match="half_life_days"):
        Settings(half_life_days=days)


def test_a_half_life_needs_times(tiny_past: Past) -> None:
    timeless = replace(tiny_past, events=Events(tiny_past.events.items, tiny_past.events.offsets))
    with pytest.raises(Mistake, match="needs times"):
        Popular(Settings(half_life_days=30.0)).fit(timeless)


def test_events_of_no_log_weigh_nothing() -> None:
    nothing = np.zeros(0, np.int64)
    assert len(event_weights(Events(nothing, np.zeros(1, np.int64), nothing), 30.0)) == 0
