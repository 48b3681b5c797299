"""What ``fit``, ``state`` and ``restore`` of every method hold to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.method import Method
from sprintrec.records import Events, HeldOut, Histories, Log, Past, Split, content_hash
from sprintrec.split import split

Fit = Callable[..., Method]


def lists(method: Method, questions: HeldOut) -> np.ndarray:
    return method.recommend(questions.histories, 30).items


def contents(past: Past) -> str:
    assert past.codes is not None
    assert past.vectors is not None
    assert past.events.times is not None
    return content_hash(past.events.items, past.events.offsets, past.events.times, past.codes.table, past.vectors)


def test_the_same_seed_gives_the_same_lists_and_the_past_stays_as_it_was(
    fit: Fit, fitted: Method, tiny_past: Past, questions: HeldOut
) -> None:
    before = contents(tiny_past)
    np.testing.assert_array_equal(lists(fit(tiny_past), questions), lists(fitted, questions))
    assert contents(tiny_past) == before


def test_a_second_fit_starts_afresh(fit: Fit, fitted: Method, tiny_past: Past, questions: HeldOut) -> None:
    turned = Histories.of([tiny_past.events.row(row)[::-1] for row in range(len(tiny_past.events))])
    method = fit(replace(tiny_past, events=Events(turned.items, turned.offsets, tiny_past.events.times)))
    np.testing.assert_array_equal(lists(method.fit(tiny_past), questions), lists(fitted, questions))


def test_another_future_changes_nothing(
    fit: Fit, fitted: Method, tiny_log: Log, tiny_past: Past, questions: HeldOut
) -> None:
    events = tiny_log.events
    items = np.array(events.items)
    items[np.concatenate([events.offsets[1:] - 1, events.offsets[1:] - 2])] = 29
    future = split(Events(items, events.offsets, events.times), "last-out")
    np.testing.assert_array_equal(
        lists(fit(replace(tiny_past, events=future.train)), questions), lists(fitted, questions)
    )


def test_a_method_knows_no_word_for_the_future(method_class: type[Method]) -> None:
    assert {field.name for field in fields(Past)} == {"events", "item_count", "codes", "vectors"}
    known = vars(sys.modules[method_class.__module__]).values()
    assert not [
        name for name in known if name in (HeldOut, Split) or getattr(name, "__module__", "") == split.__module__
    ]


def test_what_was_learnt_can_be_put_down_and_taken_up(
    fitted: Method, tiny_past: Past, questions: HeldOut, tmp_path: Path
) -> None:
    np.savez(tmp_path / "state.npz", **fitted.state())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as saved:
        state = dict(saved)
    eventless = Events(np.zeros(0, np.int32), np.zeros(1, np.int64))
    restored = type(fitted)(fitted.settings)
    restored.restore(state, replace(tiny_past, events=eventless))
    for exclude_seen in (True, False):
        asked = (questions.histories, 30, exclude_seen)
        np.testing.assert_array_equal(restored.recommend(*asked).items, fitted.recommend(*asked).items)
    assert restored.state().keys() == fitted.state().keys()


def test_parameters_are_counted(fitted: Method) -> None:
    assert fitted.parameter_count() > 0


def test_what_it_needs_is_asked_for(fit: Fit, fitted: Method, tiny_past: Past) -> None:
    """Without codes and vectors: a Mistake exactly where the flags say that they are needed."""
    bare = replace(tiny_past, codes=None, vectors=None)
    if fitted.uses_codes or fitted.uses_vectors:
        with pytest.raises(Mistake, match="needs item"):
            fit(bare)
    else:
        fit(bare)


@pytest.mark.parametrize("rows", [[], [[4]], [[4], [4], [2]]], ids=["no user", "one event", "no user with two events"])
def test_a_log_without_pairs_is_answered_or_refused_in_a_sentence(
    fit: Fit, tiny_past: Past, rows: list[list[int]]
) -> None:
    log = Histories.of(rows)
    try:
        method = fit(replace(tiny_past, events=Events(log.items, log.offsets)))
    except Mistake:
        return
    assert (method.recommend(Histories.of([[], [7]]), 20).items >= 0).all()
