"""A log cut into past and held-out: the only file that may look at the future.

``last-out``  the paper's: of every user the last target event is the test answer, the target event
              before it the validation answer. Other users' later events are trained on: it leaks
              across users, and the report says so.
``time``      what a company lives: two moments cut the whole log; before the first is training,
              between them validation, after the second test. Each user active in a window is asked
              once, for the last event there, given everything that user did before it.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from sprintrec.errors import Mistake, nearest
from sprintrec.records import Events, HeldOut, Histories, Split

Protocol = Literal["last-out", "time"]
TRAIN_SHARE, VALIDATION_SHARE = 0.8, 0.1  # of all events, for the split by time


def split(events: Events, protocol: str) -> Split:
    """The split of a log under a protocol."""
    if protocol == "last-out":
        return _last_out(events)
    if protocol == "time":
        return _by_time(events)
    raise Mistake(f"unknown protocol '{protocol}': {nearest(protocol, get_args(Protocol))}")


def _last_out(events: Events) -> Split:
    test = _last_target(events, events.offsets[1:])
    validation = _last_target(events, np.where(test >= 0, test, events.offsets[1:]))
    # A user with too few events to ask about is trained on, and never asked.
    asked = (validation > events.offsets[:-1]) & (validation >= 0)
    ends = np.where(asked, validation, events.offsets[1:])
    rows = np.flatnonzero(asked)
    if len(rows) == 0:
        raise Mistake("no user has at least three events (a past, a validation and a test one): bring a longer log")
    return Split(
        "last-out",
        _until(events, ends),
        _held_out(events, rows, validation[rows]),
        _held_out(events, rows, test[rows]),
    )


def _by_time(events: Events) -> Split:
    if events.times is None:
        raise Mistake("the log has no time stamps, so it can't be split by time: use --protocol last-out")
    order = np.sort(events.times)
    first = order[int(len(order) * TRAIN_SHARE)] if len(order) else 0
    second = order[int(len(order) * (TRAIN_SHARE + VALIDATION_SHARE))] if len(order) else 0
    train_ends = _ends_before(events, first)
    validation_ends = _ends_before(events, second)
    validation = _last_target(events, validation_ends, train_ends)
    test = _last_target(events, events.offsets[1:], validation_ends)
    asked = [np.flatnonzero((at > events.offsets[:-1]) & (at >= 0)) for at in (validation, test)]
    train = _until(events, train_ends)
    if len(train.items) == 0 or not all(map(len, asked)):
        raise Mistake(
            "cut by time, this log leaves nothing to train on or no user to ask in one of the two later windows: "
            "use --protocol last-out"
        )
    return Split(
        "time",
        train,
        _held_out(events, asked[0], validation[asked[0]]),
        _held_out(events, asked[1], test[asked[1]]),
    )


def _last_target(events: Events, ends: np.ndarray, starts: np.ndarray | None = None) -> np.ndarray:
    """Per user the flat position of the last target event in [start, end), -1 where there is none."""
    starts = events.offsets[:-1] if starts is None else starts
    positions = np.where(events.may_be_target(), np.arange(len(events.items)), -1)
    latest = np.maximum.accumulate(positions) if len(positions) else positions
    at = np.where(ends > starts, latest[np.maximum(ends - 1, 0)] if len(latest) else -1, -1)
    return np.where(at >= starts, at, -1)


def _ends_before(events: Events, moment: int) -> np.ndarray:
    """Per user the flat position after the last event earlier than the moment."""
    assert events.times is not None
    before = np.concatenate([[0], np.cumsum(events.times < moment)])
    return events.offsets[:-1] + before[events.offsets[1:]] - before[events.offsets[:-1]]


def _until(events: Events, ends: np.ndarray) -> Events:
    """The events of every user up to a flat position."""
    lengths = ends - events.offsets[:-1]
    keep = _flat(events.offsets[:-1], lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Events(
        events.items[keep],
        offsets,
        None if events.times is None else events.times[keep],
        None if events.targets is None else events.targets[keep],
    )


def _held_out(events: Events, rows: np.ndarray, at: np.ndarray) -> HeldOut:
    """Questions of some users: everything before a flat position, and the item there."""
    lengths = at - events.offsets[rows]
    histories = Histories(events.items[_flat(events.offsets[rows], lengths)], np.concatenate([[0], np.cumsum(lengths)]))
    return HeldOut(histories, events.items[at].astype(np.int32), rows)


def _flat(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The flat positions start, start + 1, ... of many runs, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
