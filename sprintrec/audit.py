"""The leak audit: what a split lets the past know of the future, counted, and said in sentences.

It reads the whole log beside its split, so it may look at the future; nothing is fitted on what it finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from sprintrec.records import Events, HeldOut, Histories, Split

FittedOn = Literal["nothing", "training events", "training items", "all items", "all events"]
REPEATS_MATTER = 0.01  # share of repeats above which the figures with seen items kept come first
EVENTS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class HeldOutAudit:
    """Counts over the questions of one held-out part; None where the log has no times."""

    questions: int
    trained_on: int  # the asked event itself is a training event: 0, or the split is broken
    never_trained: int  # the target is in no training event
    repeats: int  # the target is in the user's own past
    copies: int | None  # ... with the same time: one event logged twice
    tied: int | None  # the event before it has the same time, so which came first is the file's word
    before_training_ends: int | None  # older than the newest training event


@dataclass(frozen=True)
class Audit:
    """What there is to know before believing a figure; ``dataclasses.asdict`` is its JSON form."""

    protocol: str
    training_events: int
    repeat_share: float  # events of the whole log that repeat an item of the user's own past
    validation: HeldOutAudit
    test: HeldOutAudit
    fitted: Mapping[str, str] = field(default_factory=dict)  # what was fitted -> on what


def audit(events: Events, split: Split, fitted: Mapping[str, FittedOn] | None = None) -> Audit:
    """Audit the split of a log; ``fitted`` tells what was fitted on what, as in {"codes": "training items"}."""
    for name, on in (fitted or {}).items():
        if on not in get_args(FittedOn):
            raise ValueError(f"'{name}' can't be fitted on '{on}': known are {', '.join(get_args(FittedOn))}")
    return Audit(
        split.protocol,
        len(split.train.items),
        repeat_share(events),
        _held_out(events, split.train, split.validation),
        _held_out(events, split.train, split.test),
        dict(fitted or {}),
    )


def repeat_share(events: Histories) -> float:
    """Events that repeat an item of the same user's own past / all events."""
    repeats = 0
    for start, stop in _blocks(events):
        block = events.slice(start, stop)
        pairs = block.row_of_each().astype(np.int64) << 32 | block.items.astype(np.int64)
        pairs.sort()
        repeats += int((pairs[1:] == pairs[:-1]).sum())
    return repeats / len(events.items) if len(events.items) else 0.0


def _held_out(events: Events, train: Events, held_out: HeldOut) -> HeldOutAudit:
    times = events.times
    place = held_out.histories.lengths  # the target's place among its user's events
    asked = events.offsets[held_out.users] + place  # never a user's first event: a question has a past
    repeats, copies = _in_own_past(events, held_out, asked)
    newest = None if times is None or train.times is None or not len(train.times) else train.times.max()
    seen = np.bincount(train.items, minlength=int(held_out.targets.max(initial=0)) + 1) > 0
    return HeldOutAudit(
        questions=len(held_out),
        trained_on=int((place < train.lengths[held_out.users]).sum()),
        never_trained=int((~seen[held_out.targets]).sum()),
        repeats=repeats,
        copies=None if times is None else copies,
        tied=None if times is None else int((times[asked] == times[asked - 1]).sum()),
        before_training_ends=None if times is None or newest is None else int((times[asked] < newest).sum()),
    )


def _in_own_past(events: Events, held_out: HeldOut, asked: np.ndarray) -> tuple[int, int]:
    """Questions whose target is in their history, and those where it is there with the same time."""
    repeats = copies = 0
    for start, stop in _blocks(held_out.histories):
        past = held_out.histories.slice(start, stop)
        row = past.row_of_each()
        hits = np.flatnonzero(past.items == held_out.targets[start:stop][row])
        row = row[hits]
        repeats += len(np.unique(row))
        if events.times is not None:
            first = events.offsets[held_out.users[start:stop]]
            flat = hits + (first - past.offsets[:-1])[row]
            copies += len(np.unique(row[events.times[flat] == events.times[asked[start:stop]][row]]))
    return repeats, copies


def _blocks(histories: Histories) -> Iterator[tuple[int, int]]:
    """Runs of rows of about EVENTS_AT_ONCE events."""
    start = 0
    while start < len(histories):
        enough = int(np.searchsorted(histories.offsets, histories.offsets[start] + EVENTS_AT_ONCE, "right")) - 1
        stop = max(start + 1, min(enough, len(histories)))
        yield start, stop
        start = stop


# ---- the same in words ---------------------------------------------------------------------------


def sentences(found: Audit) -> list[str]:
    """The audit for people: one sentence per finding, the split's own leak first."""
    return [
        *_of_protocol(found),
        *_of_questions(found.validation, "validation"),
        *_of_questions(found.test, "test"),
        *_of_repeats(found),
        *_of_fitting(found.fitted),
    ]


def _of_protocol(found: Audit) -> Iterator[str]:
    older, questions = found.test.before_training_ends, found.test.questions
    if found.protocol == "last-out":
        leak = "Leave-last-out leaks across users: others' later events are trained on"
        known = "the log has no times to tell how far" if older is None else f"{_share(older, questions)} test events"
        yield f"{leak}; {known}{'' if older is None else ' are older than the newest training event'}."
    elif older:
        yield f"BROKEN SPLIT: {_share(older, questions)} test events are older than the newest training event."
    else:
        yield "Split by time: no test event is older than the newest training event."


def _of_questions(part: HeldOutAudit, name: str) -> Iterator[str]:
    if part.trained_on:
        yield f"BROKEN SPLIT: {_share(part.trained_on, part.questions)} {name} events are training events too."
    else:
        yield f"No event is both in training and in {name}."
    if part.copies:
        yield f"{_share(part.copies, part.questions)} {name} events are logged twice: same user, item and time."
    if part.tied:
        yield f"{_share(part.tied, part.questions)} {name} events share their time with the event before: file order."
    yield f"{_share(part.never_trained, part.questions)} {name} targets occur in no training event."


def _of_repeats(found: Audit) -> Iterator[str]:
    in_test = _share(found.test.repeats, found.test.questions)
    line = f"{found.repeat_share:.1%} of all events, and {in_test} test targets, are items of the user's own past"
    if found.repeat_share > REPEATS_MATTER:
        yield f"{line}: read the figures with seen items kept first."
    else:
        yield f"{line}."


def _of_fitting(fitted: Mapping[str, str]) -> Iterator[str]:
    caution = {
        "all items": ", those included that occur in held-out events alone",
        "all events": ": LEAK, held-out events included",
    }
    for name, on in fitted.items():
        yield f"Fitted on {on}{caution.get(on, '')}: {name}."


def _share(count: int, of: int) -> str:
    return f"{count:,} of {of:,} ({count / of:.1%})" if of else f"{count:,} of 0"
