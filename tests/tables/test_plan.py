"""Options that look at a row: ratings, event types, dates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables import ReadOptions, read_log

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]
ROWS = """user,item,time,rating,event
ann,a,2024-01-01,5,view
ann,b,2024-01-02,2,buy
ann,c,2024-01-03,4,cart
bob,a,2024-01-04,,view
bob,d,2024-01-05,3.5,buy
"""


@pytest.fixture
def read(write: Write) -> Callable[..., Log]:
    path = write("events.csv", ROWS)
    return lambda **options: read_log(path, options=ReadOptions(**options))


def test_by_default_everything_is_kept_and_said(read: Callable[..., Log], told: Told) -> None:
    log = read()
    assert told(log) == {"ann": ["a", "b", "c"], "bob": ["a", "d"]}
    assert log.events.targets is None
    assert "Events of every rating are kept (2 to 5 in the first rows); --min-rating leaves low ones out." in log.notes
    assert any("Events of every type (view, buy, cart) are histories and targets" in note for note in log.notes)


def test_low_ratings(read: Callable[..., Log], told: Told) -> None:
    log = read(min_rating=3.5, allow_bad=0.2)
    assert told(log) == {"ann": ["a", "c"], "bob": ["d"]}
    assert "Events rated below 3.5, left out: 1." in log.notes
    with pytest.raises(Mistake, match=r"row 5: column 'rating' is no number"):
        read(min_rating=3.5)


@pytest.mark.parametrize(
    ("options", "histories", "targets"),
    [
        ({"target_types": ("buy",)}, {"ann": ["a", "b", "c"], "bob": ["a", "d"]}, [0, 1, 0, 0, 1]),
        ({"history_types": ("view",)}, {"ann": ["a"], "bob": ["a"]}, None),
        ({"history_types": ("view",), "target_types": ("buy",)}, {"ann": ["a", "b"], "bob": ["a", "d"]}, [0, 1, 0, 1]),
    ],
)
def test_event_types(
    read: Callable[..., Log], told: Told, options: dict[str, Any], histories: dict[str, list[str]], targets: list[int]
) -> None:
    log = read(**options)
    assert told(log) == histories
    assert (None if log.events.targets is None else log.events.targets.tolist()) == targets


def test_an_event_without_a_type_is_no_target(write: Write) -> None:
    path = write("e.csv", "user,item,event\nu,a,buy\nu,b,\n")
    targets = read_log(path, options=ReadOptions(target_types=("buy",))).events.targets
    assert targets is not None
    assert targets.dtype == bool
    assert targets.tolist() == [True, False]
    notes = read_log(path, options=ReadOptions(history_types=("buy",))).notes
    assert "Events of other types than buy, left out: 1." in notes


def test_a_type_that_is_only_a_target_is_said_to_become_history(read: Callable[..., Log]) -> None:
    notes = read(history_types=("view",), target_types=("buy",)).notes
    assert "Histories hold view; targets are buy; buy events, once they have been asked for, are history too." in notes
    assert "Events of other types than view, buy, left out: 1." in notes


@pytest.mark.parametrize(
    ("options", "items"),
    [
        ({"since": "2024-01-03"}, "cad"),
        ({"until": "2024-01-03"}, "ab"),
        ({"since": "2024-01-02", "until": "2024-01-05"}, "bca"),
        ({"since": "1704326400"}, "ad"),
    ],
)
def test_dates(read: Callable[..., Log], told: Told, options: dict[str, str], items: str) -> None:
    assert "".join(item for history in told(read(**options)).values() for item in history) == items


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rating": "none", "min_rating": 3}, "no column for --min-rating: found 'user', .*--rating NAME"),
        ({"event_type": "none", "target_types": ("buy",)}, "no column for --target-types.*--event-type NAME"),
        ({"time": "none", "since": "2024-01-01"}, "no column for --since.*--time NAME"),
        ({"target_types": ("bye",)}, "no event has the type 'bye' in column 'event': did you mean 'buy'"),
        ({"since": "2030-01-01"}, "no events are left: .*Events before 2030-01-01, left out: 5"),
        ({"since": "soon"}, "--since holds 'soon'"),
    ],
)
def test_what_can_not_be_done(read: Callable[..., Log], options: dict[str, Any], message: str) -> None:
    with pytest.raises(Mistake, match=message):
        read(**options)
