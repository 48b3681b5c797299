"""The geometry of figures: ticks are round, marks stand where their values say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sprintrec.report.figures import HEIGHT, LEFT, RIGHT, TOP, WIDTH, Line, Mark, axis_to, panel, strip


@pytest.mark.parametrize(
    ("largest", "ticks", "labels"),
    [
        (0.0724, [0, 0.02, 0.04, 0.06, 0.08], ["0", "0.02", "0.04", "0.06", "0.08"]),
        (18.6, [0, 5, 10, 15, 20], ["0", "5", "10", "15", "20"]),
        (0.3, [0, 0.1, 0.2, 0.3], ["0", "0.1", "0.2", "0.3"]),
        (0.0, [0, 1], ["0", "1"]),
    ],
)
def test_ticks_by_hand(largest: float, ticks: list[float], labels: list[str]) -> None:
    axis = axis_to(largest)
    assert axis.ticks == pytest.approx(ticks)
    assert [axis.label(tick) for tick in axis.ticks] == labels


@given(st.floats(1e-6, 1e6), st.integers(2, 8))
def test_ticks_reach_the_largest_value_and_are_few(largest: float, most: int) -> None:
    axis = axis_to(largest, most)
    assert largest <= axis.end * (1 + 1e-9)
    assert len(axis.ticks) <= most + 1
    assert axis.ticks[-2] < largest * (1 + 1e-9)
    assert len({axis.label(tick) for tick in axis.ticks}) == len(axis.ticks)


def test_marks_stand_at_their_share_of_the_axis() -> None:
    drawn = strip([Mark(0.02, "main", (0.01, 0.03)), Mark(0.04, "code")], axis_to(0.04), "spoken <")
    assert '<line x1="25.00%" x2="75.00%" y1="13.0" y2="13.0" class="bar main"/><circle cx="50.00%"' in drawn
    assert '<svg x="100.00%"' in drawn
    assert 'aria-label="spoken &lt;"' in drawn


def test_the_headline_mark_lies_on_top() -> None:
    drawn = strip([Mark(0.02, "main"), Mark(0.02, "other")], axis_to(0.04), "")
    assert drawn.index('class="mark other"') < drawn.index('class="mark main"')


def test_lines_run_from_corner_to_corner() -> None:
    drawn = panel([Line([(0, 0), (10, 1)], True)], axis_to(1.0), [(0, "0"), (10, "10")], 10, "")
    (points,) = re.findall(r'points="([^"]+)"', drawn)
    assert points == f"{LEFT}.0,{HEIGHT - 18}.0 {WIDTH - RIGHT}.0,{TOP}.0"


def test_the_line_in_colour_is_drawn_last() -> None:
    line = [(0.0, 0.0), (1.0, 1.0)]
    drawn = panel([Line(line, True, [(0, 0.1), (0.9, 1)], dot=line[1]), Line(line)], axis_to(1.0), [], 1, "")
    assert drawn.index("line behind") < drawn.index("line accent")
    assert drawn.count('class="bar accent"') == 2
    assert drawn.count("<circle") == 1
