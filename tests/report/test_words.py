"""How numbers and words are spelt."""

from __future__ import annotations

import pytest

from sprintrec.metrics import RANK_METRICS, summary
from sprintrec.report import words


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.0001, "p < 0.001"), (0.001, "p = 0.001"), (0.0312, "p = 0.031"), (0.31, "p = 0.31"), (1.0, "p = 1.00")],
)
def test_p_values(p: float, said: str) -> None:
    assert words.p_value(p) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.42, "0.4 s"), (59.0, "59.0 s"), (63.5, "1 min 4 s"), (3599.9, "1 h 0 min"), (8100, "2 h 15 min")],
)
def test_durations(seconds: float, said: str) -> None:
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("names", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_of_names(names: list[str], said: str) -> None:
    assert words.joined(names) == said


def test_minus_is_a_minus() -> None:
    assert words.figure(-0.00072) == "−0.0007"
    assert words.signed(-0.5, 1) == "−0.5"
    assert words.range_of((-0.1, 0.2), 1) == "−0.1 to 0.2"


def test_a_difference_in_per_cent() -> None:
    assert [words.percent_more(ours, 0.5) for ours in (0.5, 0.501, 0.6, 0.4)] == ["±0 %", "±0 %", "+20 %", "−20 %"]


def test_a_long_title_is_cut_at_a_word() -> None:
    assert words.shortened("one two, three", 14) == "one two, three"
    assert words.shortened("one two, three", 10) == "one two…"
    assert len(words.shortened("x" * 300)) <= 70


def test_every_metric_of_a_row_has_a_name() -> None:
    import numpy as np

    assert words.METRIC_NAMES.keys() == summary(np.array([1])).keys()
    assert {key.split("@")[0] for key in words.METRICS_SHOWN} == RANK_METRICS.keys()
