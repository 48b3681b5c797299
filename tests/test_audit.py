"""The leak audit on logs whose leaks were put there by hand, and against loops over users."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sprintrec import audit as module
from sprintrec.audit import Audit, HeldOutAudit, audit, repeat_share, sentences
from sprintrec.errors import Mistake
from sprintrec.records import Events, Histories
from sprintrec.split import split


def log(users: list[list[int]], times: list[list[int]] | None = None) -> Events:
    rows = Histories.of(users)
    flat = None if times is None else np.array([time for row in times for time in row], np.int64)
    return Events(rows.items, rows.offsets, flat)


# User 0 is trained on items 1 2, user 1 on 1 3, user 2 on 2; validation asks 1 4 3, test 1 9 2.
USERS = [[1, 2, 1, 1], [1, 3, 4, 9], [2, 3, 2]]
TIMES = [[1, 2, 3, 3], [10, 11, 12, 13], [4, 5, 5]]


def test_last_out_by_hand() -> None:
    events = log(USERS, TIMES)
    assert audit(events, split(events, "last-out"), {"codes": "training items"}) == Audit(
        protocol="last-out",
        training_events=5,
        repeat_share=3 / 11,
        validation=HeldOutAudit(
            questions=3,
            trained_on=0,
            never_trained=1,  # item 4
            repeats=1,  # user 0 again at item 1
            copies=0,
            tied=0,
            before_training_ends=2,  # 3 and 5 are before 11
        ),
        test=HeldOutAudit(
            questions=3,
            trained_on=0,
            never_trained=1,  # item 9
            repeats=2,  # user 0's item 1 and user 2's item 2
            copies=1,  # user 0's item 1 twice at 3; user 2's item 2 was at 4, then at 5
            tied=2,
            before_training_ends=2,
        ),
        fitted={"codes": "training items"},
    )


def test_without_times_nothing_is_said_about_time() -> None:
    events = log(USERS)
    found = audit(events, split(events, "last-out")).test
    assert (found.copies, found.tied, found.before_training_ends) == (None, None, None)
    assert (found.repeats, found.never_trained) == (2, 1)


def test_a_split_by_time_has_no_later_training() -> None:
    events = log([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4]], [[1, 2, 3, 4, 5, 8], [6, 7, 9, 10]])
    found = audit(events, split(events, "time"))
    assert found.test.before_training_ends == 0
    assert "Split by time: no test event is older than the newest training event." in sentences(found)


def test_a_broken_split_is_called_broken() -> None:
    """A split whose training part is the whole log."""
    events = log(USERS, TIMES)
    broken = dataclasses.replace(split(events, "last-out"), protocol="time", train=events)
    found = audit(events, broken)
    assert found.validation.trained_on == found.test.trained_on == 3
    assert "BROKEN SPLIT: 3 of 3 (100.0%) test events are training events too." in sentences(found)
    assert "BROKEN SPLIT: 2 of 3 (66.7%) test events are older than the newest training event." in sentences(found)


def test_sentences() -> None:
    events = log(USERS, TIMES)
    fitted: dict[str, module.FittedOn] = {"codes": "training items", "text vectors": "all items", "PCA": "all events"}
    assert sentences(audit(events, split(events, "last-out"), fitted)) == [
        "Leave-last-out leaks across users: others' later events are trained on; "
        "2 of 3 (66.7%) test events are older than the newest training event.",
        "No event is both in training and in validation.",
        "1 of 3 (33.3%) validation targets occur in no training event.",
        "No event is both in training and in test.",
        "1 of 3 (33.3%) test events are logged twice: same user, item and time.",
        "2 of 3 (66.7%) test events share their time with the event before: file order.",
        "1 of 3 (33.3%) test targets occur in no training event.",
        "27.3% of all events, and 2 of 3 (66.7%) test targets, are items of the user's own past: "
        "read the figures with seen items kept first.",
        "Fitted on training items: codes.",
        "Fitted on all items, those included that occur in held-out events alone: text vectors.",
        "Fitted on all events: LEAK, held-out events included: PCA.",
    ]


def test_sentences_without_times_and_repeats() -> None:
    events = log([[1, 2, 3], [3, 2, 1]])
    said = sentences(audit(events, split(events, "last-out")))
    assert said[0] == (
        "Leave-last-out leaks across users: others' later events are trained on; the log has no times to tell how far."
    )
    assert said[-1] == "0.0% of all events, and 0 of 2 (0.0%) test targets, are items of the user's own past."


def test_json_form() -> None:
    events = log(USERS, TIMES)
    found = dataclasses.asdict(audit(events, split(events, "last-out")))
    assert json.loads(json.dumps(found))["test"]["before_training_ends"] == 2


def test_fitted_on_something_unknown() -> None:
    events = log(USERS)
    with pytest.raises(ValueError, match="'codes' can't be fitted on 'everything'"):
        audit(events, split(events, "last-out"), {"codes": "everything"})  # type: ignore[dict-item]


def test_repeat_share() -> None:
    assert repeat_share(Histories.of([[1, 1, 2, 1], [1], []])) == pytest.approx(2 / 5)
    assert repeat_share(Histories.of([])) == 0


event = st.tuples(st.integers(0, 5), st.integers(0, 6))
user_rows = st.lists(st.lists(event, max_size=6), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(user_rows, st.sampled_from(["last-out", "time"]), st.sampled_from([1, 5, 1000]))
def test_against_loops_over_users(users: list[list[tuple[int, int]]], protocol: str, at_once: int) -> None:
    users = [sorted(row, key=lambda one: one[1]) for row in users]
    events = log([[item for item, _ in row] for row in users], [[time for _, time in row] for row in users])
    try:
        made = split(events, protocol)
    except Mistake:
        assume(False)
    trained = {user: row[: made.train.lengths[user]] for user, row in enumerate(users)}
    items_trained = {item for row in trained.values() for item, _ in row}
    newest = max(time for row in trained.values() for _, time in row)
    expected = {"never_trained": 0, "repeats": 0, "copies": 0, "tied": 0, "before_training_ends": 0}
    for user, length in zip(made.test.users.tolist(), made.test.histories.lengths.tolist(), strict=True):
        past, (item, time) = users[user][:length], users[user][length]
        expected["never_trained"] += item not in items_trained
        expected["repeats"] += item in [other for other, _ in past]
        expected["copies"] += (item, time) in past
        expected["tied"] += past[-1][1] == time
        expected["before_training_ends"] += time < newest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "EVENTS_AT_ONCE", at_once)
        found = audit(events, made)
    assert dataclasses.asdict(found.test) == {"questions": len(made.test), "trained_on": 0, **expected}
    again = sum(len(row) - len({item for item, _ in row}) for row in users)
    assert found.repeat_share == pytest.approx(again / sum(map(len, users)))
