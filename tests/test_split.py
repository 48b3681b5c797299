"""Splits against logs cut by hand and against a twin that walks user by user with lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sprintrec.errors import Mistake
from sprintrec.records import Events, HeldOut, Histories
from sprintrec.split import split


def log(users: list[list[int]], times: list[list[int]] | None = None, targets: list[list[int]] | None = None) -> Events:
    """A log of users' items, with times and with 1 where an event may be asked for."""
    rows = Histories.of(users)
    return Events(
        rows.items,
        rows.offsets,
        None if times is None else np.array([time for row in times for time in row], np.int64),
        None if targets is None else np.array([target for row in targets for target in row], bool),
    )


def lists(histories: Histories) -> list[list[int]]:
    return [histories.row(row).tolist() for row in range(len(histories))]


def questions(held_out: HeldOut) -> dict[int, tuple[list[int], int]]:
    """user -> (history, target)."""
    rows = zip(held_out.users.tolist(), lists(held_out.histories), held_out.targets.tolist(), strict=True)
    return {user: (history, target) for user, history, target in rows}


# ---- leave-last-out, by hand ---------------------------------------------------------------------


def test_last_out() -> None:
    made = split(log([[1, 2, 3, 4], [5, 6, 7]]), "last-out")
    assert made.protocol == "last-out"
    assert lists(made.train) == [[1, 2], [5]]
    assert questions(made.validation) == {0: ([1, 2], 3), 1: ([5], 6)}
    assert questions(made.test) == {0: ([1, 2, 3], 4), 1: ([5, 6], 7)}


def test_users_with_too_few_events_are_trained_on_and_never_asked() -> None:
    made = split(log([[], [1], [2, 3], [4, 5, 6], []]), "last-out")
    assert lists(made.train) == [[], [1], [2, 3], [4], []]
    assert questions(made.validation) == {3: ([4], 5)}
    assert questions(made.test) == {3: ([4, 5], 6)}


def test_only_target_events_are_asked_for() -> None:
    """Views (0) and purchases (1): the purchases are asked, all that came before one is its history."""
    made = split(log([[1, 2, 3, 4, 5, 6]], targets=[[0, 1, 0, 1, 0, 0]]), "last-out")
    assert lists(made.train) == [[1]]
    assert questions(made.validation) == {0: ([1], 2)}
    assert questions(made.test) == {0: ([1, 2, 3], 4)}  # the views after the last purchase are left out
    assert made.train.targets is not None
    assert made.train.targets.tolist() == [False]


@pytest.mark.parametrize("targets", [[1, 0, 1], [0, 0, 1], [0, 0, 0]])
def test_a_user_without_two_answerable_targets_is_not_asked(targets: list[int]) -> None:
    made = split(log([[1, 2, 3], [4, 5, 6]], targets=[targets, [1, 1, 1]]), "last-out")
    assert lists(made.train) == [[1, 2, 3], [4]]
    assert list(questions(made.test)) == [1]


def test_times_stay_with_their_events() -> None:
    made = split(log([[1, 2, 3], [4], [5, 6, 7]], times=[[10, 20, 30], [5], [7, 8, 9]]), "last-out")
    assert made.train.times is not None
    assert made.train.times.tolist() == [10, 5, 7]


@pytest.mark.parametrize("users", [[], [[]], [[1, 2], [3]]])
def test_a_log_in_which_nobody_can_be_asked(users: list[list[int]]) -> None:
    with pytest.raises(Mistake, match="at least three events"):
        split(log(users), "last-out")


# ---- by time, by hand ----------------------------------------------------------------------------

# Twenty events at the moments 1 to 20: training ends before 17, validation before 19.
USERS = [list(range(10, 18)), [20, 21, 22, 23], [30, 31, 32, 33, 34], [40, 41, 42]]
TIMES = [[1, 2, 3, 4, 5, 6, 7, 17], [8, 9, 10, 19], [11, 12, 13, 18, 20], [14, 15, 16]]


def test_by_time() -> None:
    made = split(log(USERS, TIMES), "time")
    assert made.protocol == "time"
    assert lists(made.train) == [[10, 11, 12, 13, 14, 15, 16], [20, 21, 22], [30, 31, 32], [40, 41, 42]]
    assert questions(made.validation) == {0: ([10, 11, 12, 13, 14, 15, 16], 17), 2: ([30, 31, 32], 33)}
    assert questions(made.test) == {1: ([20, 21, 22], 23), 2: ([30, 31, 32, 33], 34)}


def test_each_user_is_asked_once_a_window_for_the_last_target_there() -> None:
    """Nine of ten before 9; the window of the test holds three events of user 1, the last of them a view."""
    users = [list(range(16)), [50, 51, 52, 53], [60, 61, 62]]
    times = [list(range(16)), [1, 20, 20, 21], [2, 17, 18]]
    targets = [[1] * 16, [1, 1, 1, 0], [1, 1, 1]]
    made = split(log(users, times, targets), "time")
    assert questions(made.validation) == {2: ([60, 61], 62)}
    assert questions(made.test) == {1: ([50, 51], 52)}


def test_events_of_one_moment_stay_on_one_side_of_the_cut() -> None:
    """The eighth of ten events shares its moment with the seventh and ninth: all three are validation."""
    times = [[1, 2, 3, 4, 5, 8], [6, 8, 8, 9]]
    made = split(log([[1, 2, 3, 4, 5, 6], [11, 12, 13, 14]], times), "time")
    assert lists(made.train) == [[1, 2, 3, 4, 5], [11]]
    assert questions(made.validation) == {0: ([1, 2, 3, 4, 5], 6), 1: ([11, 12], 13)}
    assert questions(made.test) == {1: ([11, 12, 13], 14)}


def test_new_users_are_asked_from_their_second_event_on() -> None:
    times = [[1, 2, 3, 4, 5, 6, 7, 8, 17, 20], [9, 10, 11, 12, 13, 14, 15, 16], [18], [19]]
    made = split(log([list(range(10)), list(range(8)), [50], [60]], times), "time")
    assert lists(made.train)[2:] == [[], []]
    assert list(questions(made.validation)) == [0]
    assert list(questions(made.test)) == [0]


def test_a_log_without_times() -> None:
    with pytest.raises(Mistake, match="no time stamps"):
        split(log([[1, 2, 3]]), "time")


@pytest.mark.parametrize("times", [[], [5, 5, 5, 5], [5, 5, 5, 5, 5, 5, 5, 5, 5, 6], [1, 2, 3, 4, 5, 6, 7, 8, 9, 9]])
def test_a_log_whose_windows_are_empty(times: list[int]) -> None:
    """No event at all; one moment; nothing before the first cut; nothing between the cuts."""
    with pytest.raises(Mistake, match="nothing to train on or no user to ask"):
        split(log([[1] * len(times)], [times]), "time")


def test_unknown_protocol() -> None:
    with pytest.raises(Mistake, match="did you mean 'last-out'"):
        split(log([[1, 2, 3]]), "lastout")


# ---- a twin that walks user by user --------------------------------------------------------------


@dataclass
class Cut:
    """One user: how many events are trained on, and the places asked for, if any."""

    train: int
    validation: int | None
    test: int | None


def last_target(targets: list[int], start: int, end: int) -> int | None:
    places = [place for place in range(start, end) if targets[place]]
    return places[-1] if places else None


def cut_last_out(targets: list[int]) -> Cut:
    test = last_target(targets, 0, len(targets))
    validation = None if test is None else last_target(targets, 0, test)
    return Cut(validation, validation, test) if validation else Cut(len(targets), None, None)


def cut_by_time(times: list[int], targets: list[int], first: int, second: int) -> Cut:
    train, until = sum(time < first for time in times), sum(time < second for time in times)
    validation, test = last_target(targets, train, until), last_target(targets, until, len(times))
    return Cut(train, validation or None, test or None)  # at place 0 there is no past: not asked


def check(events: Events, protocol: str, cuts: list[Cut]) -> None:
    assume(any(cut.train for cut in cuts))
    assume(any(cut.validation for cut in cuts))
    assume(any(cut.test for cut in cuts))
    rows = lists(events)
    made = split(events, protocol)
    assert lists(made.train) == [row[: cut.train] for row, cut in zip(rows, cuts, strict=True)]
    for held_out, name in ((made.validation, "validation"), (made.test, "test")):
        places = {user: getattr(cut, name) for user, cut in enumerate(cuts) if getattr(cut, name) is not None}
        assert questions(held_out) == {user: (rows[user][:at], rows[user][at]) for user, at in places.items()}


event = st.tuples(st.integers(0, 6), st.integers(0, 12), st.integers(0, 3).map(bool))  # item, time, may be asked for
user_rows = st.lists(st.lists(event, max_size=6), min_size=1, max_size=8)
quick = settings(max_examples=150, deadline=None)


def as_log(users: list[list[tuple[int, int, bool]]]) -> tuple[Events, list[list[int]], list[list[int]]]:
    users = [sorted(row, key=lambda one: one[1]) for row in users]
    items, times, targets = ([[one[part] for one in row] for row in users] for part in range(3))
    return log(items, times, targets), times, targets


@quick
@given(user_rows)
def test_last_out_against_the_twin(users: list[list[tuple[int, int, bool]]]) -> None:
    events, _, targets = as_log(users)
    check(events, "last-out", [cut_last_out(row) for row in targets])


@quick
@given(user_rows)
def test_by_time_against_the_twin(users: list[list[tuple[int, int, bool]]]) -> None:
    events, times, targets = as_log(users)
    every = sorted(time for row in times for time in row)
    assume(every)
    first, second = every[int(len(every) * 0.8)], every[int(len(every) * 0.9)]
    check(
        events,
        "time",
        [cut_by_time(row, may_be, first, second) for row, may_be in zip(times, targets, strict=True)],
    )
