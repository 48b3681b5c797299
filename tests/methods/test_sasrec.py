"""SASRec's losses place by place, in plain Python, and what it may learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sprintrec.method import Run
from sprintrec.methods import sasrec
from sprintrec.methods.bsarec import BSARec
from sprintrec.methods.sasrec import SASRec
from sprintrec.records import Events, Histories, Past
from sprintrec.settings import changed

SLOTS, ITEMS = 4, 9
TINY = {"width": 8, "heads": 2, "dropout": 0.0, "history": SLOTS}
# The second user fills a window and a half, the fourth has nothing to learn from.
ROWS = [[3, 1, 4], [1, 5, 8, 2, 6, 5, 3], [0, 7], [2]]
MARKED = [1, 0, 1] + [0, 1, 0, 0, 1, 0, 1] + [0, 0] + [1]


def past(targets: list[int] | None = None) -> Past:
    histories = Histories.of(ROWS)
    may_be_target = None if targets is None else np.array(targets, bool)
    return Past(Events(histories.items, histories.offsets, None, may_be_target), ITEMS)


def begun(known: Past, changes: dict[str, Any] | None = None, kind: type[SASRec] = SASRec) -> SASRec:
    """A network in double precision, its weights far from the tiny starting ones."""
    method = kind(changed(kind.Settings(), {**TINY, **(changes or {})}))
    method.begin(known, Run(seed=1))
    method.network.double().train()
    torch.manual_seed(2)
    for parameter in method.network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return method


def whole_loss(method: SASRec, known: Past) -> tuple[float, int]:
    samples, loss = method._task(known)
    mean, count = loss(torch.arange(samples))
    return float(mean.detach()), int(count)


def runs(row: list[int]) -> list[list[int]]:
    """Places of the targets of a row, SLOTS at a time from the newest, none at place 0."""
    places = list(range(1, len(row)))
    return [places[max(0, end - SLOTS) : end] for end in range(len(places), 0, -SLOTS)]


def states_after(method: SASRec, items: list[int]) -> Tensor:
    """States of all slots of a window, oldest first; the known ones come last."""
    window = torch.tensor([[0] * (SLOTS - len(items)) + items])
    known = torch.tensor([[False] * (SLOTS - len(items)) + [True] * len(items)])
    return method.network(method.network.item_table(), window, known)[0]


def cross_entropies(method: SASRec, marked: list[bool]) -> list[float]:
    """-log softmax(state of the slot before . items)[target] of every marked target of every run."""
    found, place = [], 0
    for row in ROWS:
        for run in runs(row):
            states = states_after(method, row[run[0] - 1 : run[-1]])[-len(run) :]
            for state, target in zip(states, run, strict=True):
                if marked[place + target]:
                    scores = method.network.items.weight[:-1] @ state
                    found.append(float((scores.logsumexp(0) - scores[row[target]]).detach()))
        place += len(row)
    return found


@pytest.mark.parametrize("targets", [None, MARKED], ids=["every event", "some events"])
def test_every_place_of_every_run_is_taught_once(targets: list[int] | None) -> None:
    known = past(targets)
    method = begun(known)
    expected = cross_entropies(method, known.events.may_be_target().tolist())
    mean, count = whole_loss(method, known)
    assert count == len(expected) == (9 if targets is None else 4)
    assert mean == pytest.approx(sum(expected) / len(expected))


@pytest.mark.parametrize("kind", [SASRec, BSARec])
@pytest.mark.parametrize("first_events", [False, True])
def test_the_last_place_of_every_prefix_is_taught(kind: type[SASRec], first_events: bool) -> None:
    """As a question is asked: the prefix in the last slots, its next item the answer."""
    known = past()
    method = begun(known, {"targets": "last", "first_events": first_events}, kind)
    expected = []
    for row in ROWS:
        for target in range(0 if first_events else 1, len(row)):
            state = states_after(method, row[max(0, target - SLOTS) : target])[-1]
            scores = method.network.items.weight[:-1] @ state
            expected.append(float((scores.logsumexp(0) - scores[row[target]]).detach()))
    mean, count = whole_loss(method, known)
    assert count == len(expected)
    assert mean == pytest.approx(sum(expected) / len(expected))


def test_the_binary_loss_sets_each_target_against_one_other_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """-log sigmoid(right) - log(1 - sigmoid(wrong)), the wrong one never being the target."""
    method, drawn = begun(past(), {"loss": "binary"}), []

    def one_later(targets_N: Tensor, candidates: int, negatives: int) -> Tensor:
        drawn.append(negatives)
        return torch.stack([targets_N, (targets_N + 1) % candidates], dim=1)

    monkeypatch.setattr(sasrec, "sampled_rows", one_later)
    items, expected = method.network.items.weight[:-1], []
    for row in ROWS:
        for run in runs(row):
            for state, target in zip(states_after(method, row[run[0] - 1 : run[-1]])[-len(run) :], run, strict=True):
                right, wrong = (items[i] @ state for i in (row[target], (row[target] + 1) % ITEMS))
                expected.append(float(-(right.sigmoid().log() + (1 - wrong.sigmoid()).log()).detach()))
    assert whole_loss(method, past())[0] == pytest.approx(sum(expected) / len(expected))
    assert drawn == [1]


def test_smoothing_spreads_over_the_catalogue() -> None:
    plain, smoothed = begun(past()), begun(past(), {"smoothing": 0.3})
    uniform = []
    for row in ROWS:
        for run in runs(row):
            scores = states_after(plain, row[run[0] - 1 : run[-1]])[-len(run) :] @ plain.network.items.weight[:-1].T
            uniform += (scores.logsumexp(1) - scores.mean(1)).tolist()
    expected = 0.7 * whole_loss(plain, past())[0] + 0.3 * sum(uniform) / len(uniform)
    assert whole_loss(smoothed, past())[0] == pytest.approx(expected)


def test_a_captured_step_weighs_padding_with_nothing() -> None:
    """On a GPU every slot is scored, shapes being fixed, and what teaches nothing gets no weight."""
    known = past(MARKED)
    method = begun(known)
    states_ND, targets_N = torch.randn(6, 8, dtype=torch.float64), torch.tensor([3, 1, 0, 8, 2, 2])
    taught_N, items_ID = torch.tensor([True, False, True, True, False, False]), method.network.items.weight[:-1]
    picked = method._loss(states_ND, targets_N, items_ID, taught_N)
    method.device = torch.device("cuda")
    weighed = method._loss(states_ND, targets_N, items_ID, taught_N)
    assert (picked[1], int(weighed[1])) == (3, 3)
    torch.testing.assert_close(picked[0], weighed[0])


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_nothing_taught_costs_nothing(device: str) -> None:
    method = begun(past())
    method.device = torch.device(device)
    nothing = method._loss(
        torch.randn(2, 8).double(), torch.tensor([1, 2]), torch.randn(9, 8).double(), torch.zeros(2).bool()
    )
    assert (float(nothing[0]), int(nothing[1])) == (0.0, 0)


def test_a_batch_in_pieces_costs_what_a_whole_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loss and gradients, with rows of every length in one batch."""
    random = np.random.default_rng(0)
    rows = [random.integers(0, ITEMS, random.integers(2, 9)).tolist() for _ in range(40)]
    histories = Histories.of(rows)
    known = Past(Events(histories.items, histories.offsets), ITEMS)
    method, found = begun(known), []
    for device in ("cpu", "whole"):
        samples, loss = method._task(known)
        if device == "whole":
            monkeypatch.setattr(method, "_states", method.network)
        mean, _ = loss(torch.arange(samples))
        found.append([mean, *torch.autograd.grad(mean, list(method.network.parameters()))])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_a_filter_reads_whole_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    method, widths = begun(past(), {"targets": "last"}, BSARec), []
    plain = method.network.forward

    def forward(table_ID: Tensor, items_BT: Tensor, known_BT: Tensor, newest: int | None) -> Tensor:
        widths.append(items_BT.shape[1])
        return plain(table_ID, items_BT, known_BT, newest)

    monkeypatch.setattr(method.network, "forward", forward)
    whole_loss(method, past())
    assert widths == [SLOTS]


def test_items_are_scored_by_the_last_state() -> None:
    method = begun(past())
    method.network.eval()
    scores = method.item_scores(Histories.of([[3, 1], [5, 2, 0, 8, 1]]))
    for row, items in enumerate([[3, 1], [2, 0, 8, 1]]):
        expected = method.network.items.weight[:-1] @ states_after(method, items)[-1]
        torch.testing.assert_close(scores[row], expected)


def test_bsarec_has_the_settings_of_its_authors() -> None:
    settings = BSARec().settings
    encoder, training = settings.encoder, settings.training
    assert (encoder.width, encoder.layers, encoder.heads, encoder.dropout, encoder.history) == (64, 2, 1, 0.5, 50)
    assert (encoder.filter_mix, encoder.filter_kept) == (0.7, 3)
    assert (training.rate, training.decay, training.batch) == (5e-4, 0.0, 256)
    assert (training.warmup, training.schedule, training.clip) == (0.0, "constant", 0.0)
    assert (settings.targets, settings.first_events, settings.loss) == ("last", True, "softmax")
