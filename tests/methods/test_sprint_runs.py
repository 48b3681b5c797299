"""SPRINT taught by runs: the id path at all places of a run, the code path by events drawn anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sprintrec.errors import Mistake
from sprintrec.method import Run
from sprintrec.methods.sprint import Settings, Sprint
from sprintrec.objective import dual_level_loss
from sprintrec.records import Codes, Events, Histories, Past
from sprintrec.settings import changed
from sprintrec.windows import Windows, prefix_targets, question_windows, run_targets

ITEMS, RUN = 10, 4
TINY = {
    "network.width": 8,
    "network.inner": 8,
    "network.heads": 2,
    "network.decoder_layers": 1,
    "network.dropout": 0.0,
    "network.history": 5,
    "ids.layers": 1,
    "ids.width": 4,
    "ids.history": RUN,
    "ids.dropout": 0.0,
    "drawn": 3,
}


@pytest.fixture(scope="module")
def past() -> Past:
    """Only some events may be asked for."""
    random = np.random.default_rng(0)
    histories = Histories.of([random.integers(0, ITEMS, random.integers(1, 9)) for _ in range(12)])
    targets = random.random(len(histories.items)) < 0.6
    table = np.stack([np.arange(ITEMS) // 4, np.arange(ITEMS) % 4], axis=1)
    return Past(Events(histories.items, histories.offsets, None, targets), ITEMS, Codes("grid", table, (3, 4)))


def begun(past: Past, **changes: Any) -> Sprint:
    method = Sprint(changed(Settings(), {**TINY, **changes}))
    method.begin(past, Run(seed=1))
    torch.manual_seed(2)
    for parameter in method.network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return method


def code_loss(method: Sprint, past: Past, events: list[int]) -> Tensor:
    """The dual-level loss of some events, each asked from all before it."""
    starts, positions = prefix_targets(past.events)
    rows = [past.events.items[starts[event] : positions[event]] for event in events]
    target_B = torch.from_numpy(past.events.items[positions[events]].astype(np.int64))
    codes, objective = method.network.codes, method.settings.objective
    answer = codes(method.table, *question_windows(Histories.of(rows), 5, "cpu"))
    return dual_level_loss(answer, codes.code_vectors(method.table), method.table, target_B, objective)


def id_loss(method: Sprint, past: Past) -> float:
    """Cross-entropy at every place of every run whose next item may be asked for."""
    ids, events, found = method.network.ids, past.events, []
    assert ids is not None
    for start, last in zip(*run_targets(events, RUN), strict=True):
        first = max(start, last - RUN)
        states = ids(ids.item_table(), *question_windows(Histories.of([events.items[first:last]]), RUN, "cpu"))[0]
        for place in range(first + 1, last + 1):
            if events.may_be_target()[place]:
                scores = ids.items.weight[:-1] @ states[place - last - 1]
                found.append(float((scores.logsumexp(0) - scores[events.items[place]]).detach()))
    return sum(found) / len(found)


def test_a_window_knows_what_came_next_and_what_of_it_teaches(past: Past) -> None:
    starts, ends = run_targets(past.events, RUN)
    found = Windows(past.events, "cpu").run(torch.from_numpy(starts), torch.from_numpy(ends), RUN)
    for row, (start, last) in enumerate(zip(starts, ends, strict=True)):
        for slot in range(RUN):
            item, known, following, teaches = (part[row, slot].item() for part in found)
            at = last - RUN + slot
            assert known == (at >= start)
            assert teaches == (known and past.events.may_be_target()[at + 1])
            if known:
                assert [item, following] == past.events.items[at : at + 2].tolist()


def test_a_sample_is_a_run_and_some_events_from_anywhere(past: Past) -> None:
    method = begun(past)
    samples, loss = method._task(past)
    assert samples == len(run_targets(past.events, RUN)[0])
    torch.manual_seed(3)
    found, _ = loss(torch.arange(samples))
    torch.manual_seed(3)
    drawn = torch.randint(len(prefix_targets(past.events)[0]), (samples * 3,)).tolist()
    assert found.item() == pytest.approx(code_loss(method, past, drawn).item() + id_loss(method, past), rel=1e-5)


def test_without_an_id_path_the_drawn_events_teach_alone(past: Past) -> None:
    method = begun(past, **{"ids.layers": 0})
    _, loss = method._task(past)
    torch.manual_seed(3)
    found, _ = loss(torch.tensor([0, 1]))
    torch.manual_seed(3)
    drawn = torch.randint(len(prefix_targets(past.events)[0]), (6,)).tolist()
    assert found.item() == pytest.approx(code_loss(method, past, drawn).item(), rel=1e-5)


def test_a_filter_would_see_the_future_of_a_run(past: Past) -> None:
    with pytest.raises(Mistake, match=r"ids\.filter_mix reads the whole window.*set objective\.drawn to 0"):
        begun(past, **{"ids.filter_mix": 0.5})
