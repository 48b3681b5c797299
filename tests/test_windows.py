"""Windows and training targets against the plain Python they stand for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sprintrec.records import Events, Histories
from sprintrec.windows import PIECES, Windows, in_pieces, prefix_targets, question_windows, run_targets

ROWS = st.lists(st.lists(st.integers(0, 9), max_size=7), max_size=6)
SLOTS = st.integers(1, 5)


def events_of(rows: list[list[int]], targets: list[bool] | None = None) -> Events:
    histories = Histories.of(rows)
    marked = None if targets is None else np.array(targets, bool)
    return Events(histories.items, histories.offsets, None, marked)


def drawn_targets(data: st.DataObject, rows: list[list[int]]) -> list[bool] | None:
    """Which events may be asked for: all, or some."""
    count = sum(map(len, rows))
    return data.draw(st.none() | st.lists(st.booleans(), min_size=count, max_size=count))


def naive_window(items: list[int], slots: int) -> tuple[list[int], list[bool]]:
    newest = items[-slots:]
    padding = slots - len(newest)
    return [0] * padding + newest, [False] * padding + [True] * len(newest)


@given(ROWS, SLOTS)
def test_a_question_is_the_newest_items_in_the_last_slots(rows: list[list[int]], slots: int) -> None:
    items_BT, known_BT = question_windows(Histories.of(rows), slots, "cpu")
    expected = [naive_window(row, slots) for row in rows]
    assert items_BT.tolist() == [items for items, _ in expected]
    assert known_BT.tolist() == [known for _, known in expected]


@given(ROWS, SLOTS, st.data())
def test_a_window_ends_anywhere_in_its_row(rows: list[list[int]], slots: int, data: st.DataObject) -> None:
    ends = [data.draw(st.integers(0, len(row))) for row in rows]
    offsets = Histories.of(rows).offsets[:-1]
    starts_B, ends_B = torch.from_numpy(offsets), torch.from_numpy(offsets + np.array(ends, np.int64))
    items_BT, known_BT = Windows(Histories.of(rows), "cpu").cut(starts_B, ends_B, slots)
    expected = [naive_window(row[:end], slots) for row, end in zip(rows, ends, strict=True)]
    assert items_BT.tolist() == [items for items, _ in expected]
    assert known_BT.tolist() == [known for _, known in expected]


def test_no_history_at_all_has_windows_too() -> None:
    items_BT, known_BT = question_windows(Histories.of([[]]), 3, "cpu")
    assert items_BT.tolist() == [[0, 0, 0]]
    assert not known_BT.any()


@given(st.lists(st.lists(st.integers(0, 9), max_size=7), min_size=1, max_size=40))
def test_pieces_of_like_length_answer_in_the_order_of_the_batch(rows: list[list[int]]) -> None:
    """No piece reads more slots than its longest row fills, nor fewer than any row of it fills."""
    items_BT, known_BT = question_windows(Histories.of(rows), 5, "cpu")
    widths = []

    def ask(piece: torch.Tensor, slots: int) -> tuple[torch.Tensor, ...]:
        lengths = known_BT[piece].sum(dim=1)
        assert slots == max(1, int(lengths.max()))
        widths.append(slots)
        return (items_BT[piece, -slots:] * known_BT[piece, -slots:]).sum(dim=1), lengths

    sums_B, lengths_B = in_pieces(known_BT, ask)
    assert sums_B.tolist() == [sum(row[-5:]) for row in rows]
    assert lengths_B.tolist() == [min(5, len(row)) for row in rows]
    assert widths == sorted(widths)
    assert len(widths) <= PIECES


@given(ROWS, st.booleans(), st.data())
def test_every_prefix_that_may_be_asked_is_a_sample_once(
    rows: list[list[int]], first_events: bool, data: st.DataObject
) -> None:
    events = events_of(rows, drawn_targets(data, rows))
    may = events.may_be_target()
    expected = [
        (int(start), int(start) + place)
        for row, start in zip(rows, events.offsets[:-1], strict=True)
        for place in range(len(row))
        if may[start + place] and (place > 0 or first_events)
    ]
    starts, positions = prefix_targets(events, first_events)
    assert list(zip(starts.tolist(), positions.tolist(), strict=True)) == expected


@given(ROWS, SLOTS, st.data())
def test_runs_cover_every_target_with_a_past_exactly_once(
    rows: list[list[int]], slots: int, data: st.DataObject
) -> None:
    events = events_of(rows, drawn_targets(data, rows))
    covered = []
    for start, last in zip(*run_targets(events, slots), strict=True):
        assert start in events.offsets
        run = range(max(start, last - slots) + 1, last + 1)
        assert events.may_be_target()[run].any()
        covered += [position for position in run if events.may_be_target()[position]]
    assert sorted(covered) == prefix_targets(events)[1].tolist()


@given(ROWS, SLOTS)
def test_a_run_is_predicted_from_what_came_before_each_target(rows: list[list[int]], slots: int) -> None:
    """Slot by slot, the target cut one later is the item after the one that is read."""
    events = events_of(rows)
    windows, (starts, ends) = Windows(events, "cpu"), map(torch.from_numpy, run_targets(events, slots))
    read_BT, known_BT = windows.cut(starts, ends, slots)
    asked_BT, _ = windows.cut(starts, ends + 1, slots)
    pairs = torch.stack([read_BT, asked_BT], dim=-1)[known_BT].tolist()
    assert sorted(pairs) == sorted([a, b] for row in rows for a, b in pairwise(row))


@pytest.mark.parametrize("rows", [[], [[]], [[4]]])
def test_without_a_past_there_is_nothing_to_teach(rows: list[list[int]]) -> None:
    for starts, positions in (prefix_targets(events_of(rows)), run_targets(events_of(rows), 3)):
        assert len(starts) == len(positions) == 0
