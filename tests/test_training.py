"""The loop on a problem whose answer is known: a line through noisy points, learnt by a network with dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from sprintrec import training
from sprintrec.errors import Mistake, WorkFailed
from sprintrec.method import Run, Scores
from sprintrec.training import CHECKPOINT, Progress, Trainer, TrainingSettings, rate_share

SAMPLES, BATCH = 50, 8
STEPS_PER_EPOCH = 7
SHORT = TrainingSettings(epochs=3, batch=BATCH, rate=0.05)


class Line(nn.Module):
    """Two layers with dropout between, so that random states matter."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(7)
        self.up, self.drop, self.down = nn.Linear(3, 8), nn.Dropout(0.2), nn.Linear(8, 1)

    def forward(self, x_N3: Tensor) -> Tensor:
        return self.down(self.drop(self.up(x_N3)))[:, 0]


def points() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    x_N3 = torch.randn(SAMPLES, 3, generator=generator)
    return x_N3, x_N3 @ torch.tensor([1.0, -2.0, 0.5]) + 0.1 * torch.randn(SAMPLES, generator=generator)


def loss_of(network: nn.Module) -> training.Loss:
    x_N3, y_N = points()
    return lambda rows_B: ((network(x_N3[rows_B]) - y_N[rows_B]).square().mean(), len(rows_B))


def fit(
    settings: TrainingSettings = SHORT,
    run: Run | None = None,
    validate: Callable[[], Scores] | None = None,
    network: nn.Module | None = None,
    made_of: Mapping[str, Any] | None = None,
) -> tuple[nn.Module, Progress]:
    network = Line() if network is None else network
    trainer = Trainer(network, SAMPLES, loss_of(network), settings, run or Run(), validate, made_of)
    return network, trainer.fit()


def scores(*values: float) -> Callable[[], Scores]:
    """A validation that gives these scores, one per epoch."""
    left = iter(values)
    return lambda: {"score": next(left)}


def weights(network: nn.Module) -> list[list[float]]:
    return [parameter.flatten().tolist() for parameter in network.parameters()]


def after(epochs: int, settings: TrainingSettings) -> list[list[float]]:
    """Weights of the same run as they stood after some epochs."""
    taken: list[list[list[float]]] = []
    network = Line()
    run = Run(on_epoch=lambda _: taken.append(weights(network)))
    fit(settings, run, network=network)
    return taken[epochs - 1]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# ---- learning ------------------------------------------------------------------------------------


def test_the_loss_falls() -> None:
    _, progress = fit(replace(SHORT, epochs=20))
    losses = [record["loss"] for record in progress.epochs]
    assert len(losses) == 20
    assert losses[-1] < losses[0] / 4


def recorded(network: nn.Module) -> tuple[training.Loss, list[float]]:
    """A loss that writes down what it found."""
    seen: list[float] = []
    plain = loss_of(network)

    def loss(rows_B: Tensor) -> tuple[Tensor, int]:
        mean, count = plain(rows_B)
        seen.append(mean.item())
        return mean, count

    return loss, seen


def test_the_loss_told_is_the_mean_over_batches() -> None:
    network = Line()
    loss, seen = recorded(network)
    progress = Trainer(network, SAMPLES, loss, SHORT, Run(), None).fit()
    for epoch, record in enumerate(progress.epochs):
        batches = seen[epoch * STEPS_PER_EPOCH : (epoch + 1) * STEPS_PER_EPOCH]
        assert record["loss"] == pytest.approx(sum(batches) / STEPS_PER_EPOCH)


def test_every_epoch_takes_every_sample_once_in_an_order_of_its_own() -> None:
    network = Line()
    seen: list[int] = []

    def loss(rows_B: Tensor) -> tuple[Tensor, int]:
        seen.extend(rows_B.tolist())
        return loss_of(network)(rows_B)

    Trainer(network, SAMPLES, loss, SHORT, Run(), None).fit()
    epochs = [seen[start : start + SAMPLES] for start in range(0, len(seen), SAMPLES)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(SAMPLES))] * 3
    assert epochs[0] != epochs[1] != epochs[2]


def test_the_same_seed_gives_the_same_weights_whatever_was_drawn_before() -> None:
    first = weights(fit(run=Run(seed=3))[0])
    torch.rand(1000)
    assert weights(fit(run=Run(seed=3))[0]) == first
    assert weights(fit(run=Run(seed=4))[0]) != first


def test_training_leaves_the_callers_random_numbers_alone() -> None:
    torch.manual_seed(5)
    fit()
    drawn = torch.rand(3)
    torch.manual_seed(5)
    Line()
    assert torch.equal(drawn, torch.rand(3))


def test_nothing_to_train_on_is_a_mistake() -> None:
    with pytest.raises(Mistake, match="nothing to train on"):
        Trainer(Line(), 0, loss_of(Line()), SHORT, Run(), None)


# ---- schedule and steps --------------------------------------------------------------------------


def test_the_rate_rises_then_follows_a_cosine() -> None:
    settings = TrainingSettings(warmup=0.2)
    found = [rate_share(step, 10, settings) for step in range(10)]
    rise, fall = [0.5, 1.0], [0.5 * (1 + math.cos(math.pi * step / 8)) for step in range(8)]
    assert found == pytest.approx(rise + fall)


def test_the_rate_rises_then_stays() -> None:
    settings = TrainingSettings(warmup=0.3, schedule="constant")
    assert [rate_share(step, 10, settings) for step in range(10)] == pytest.approx([1 / 3, 2 / 3] + [1.0] * 8)


@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_without_a_warm_up_the_first_step_is_at_full_rate(schedule: Any) -> None:
    assert rate_share(0, 10, TrainingSettings(warmup=0.0, schedule=schedule)) == 1.0


def test_the_optimiser_is_adamw_at_the_rate_of_the_schedule() -> None:
    """The whole run again with torch's plain loop and nothing of ours but the order of samples."""
    settings = TrainingSettings(epochs=2, batch=BATCH, rate=0.05, decay=0.1, beta2=0.95, clip=0.5)
    ours, expected = Line(), Line()
    ours.drop.p = expected.drop.p = 0.0
    trainer = Trainer(ours, SAMPLES, loss_of(ours), settings, Run(), None)
    trainer.fit()
    optimizer = torch.optim.AdamW(expected.parameters(), lr=0.05, betas=(0.9, 0.95), weight_decay=0.1)
    for step in range(2 * STEPS_PER_EPOCH):
        epoch, batch = divmod(step, STEPS_PER_EPOCH)
        optimizer.param_groups[0]["lr"] = 0.05 * rate_share(step, 2 * STEPS_PER_EPOCH, settings)
        optimizer.zero_grad()
        loss_of(expected)(trainer._order(epoch)[batch * BATCH : (batch + 1) * BATCH])[0].backward()
        total = math.sqrt(sum(float(p.grad.square().sum()) for p in expected.parameters()))
        for parameter in expected.parameters():
            parameter.grad *= min(1.0, 0.5 / total)
        optimizer.step()
    for one, other in zip(ours.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_are_left_alone_where_nothing_is_clipped() -> None:
    never, far = (weights(fit(replace(SHORT, clip=clip))[0]) for clip in (0.0, 1e9))
    assert never == far
    assert weights(fit(replace(SHORT, clip=0.01))[0]) != never


# ---- stopping ------------------------------------------------------------------------------------


def test_the_best_weights_are_brought_back() -> None:
    settings = replace(SHORT, epochs=5)
    network, progress = fit(settings, validate=scores(0.1, 0.4, 0.4, 0.2, 0.3))
    assert (progress.best_epoch, progress.best_score) == (1, 0.4)
    assert weights(network) == after(2, settings)
    assert not network.training


def test_patience_counts_epochs_without_a_better_score() -> None:
    settings = replace(SHORT, epochs=30, patience=3)
    _, progress = fit(settings, validate=scores(0.1, 0.2, 0.2, 0.1, 0.15, 0.9))
    assert [record["best_epoch"] for record in progress.epochs] == [0, 1, 1, 1, 1]


def test_without_validation_the_last_weights_count() -> None:
    network, progress = fit(replace(SHORT, epochs=4))
    assert progress.best_epoch == 3
    assert weights(network) == after(4, replace(SHORT, epochs=4))


def test_steps_drop_and_validation_does_not() -> None:
    network = Line()
    stepped: list[bool] = []
    validated: list[bool] = []

    def validate() -> Scores:
        validated.append(network.training)
        return {"score": 0.0}

    fit(run=Run(on_step=lambda *_: stepped.append(network.training)), network=network, validate=validate)
    assert stepped == [True] * 3 * STEPS_PER_EPOCH
    assert validated == [False] * 3


class Clock:
    """Every look at it takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


def test_out_of_time_ends_within_the_epoch_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "time", Clock())
    steps: list[int] = []
    settings, run = replace(SHORT, epochs=9), Run(time_limit=12.0, on_step=lambda step, *_: steps.append(step))
    network, progress = fit(settings, run, scores(0.5, 0.3))
    assert STEPS_PER_EPOCH < len(steps) < 2 * STEPS_PER_EPOCH
    assert len(progress.epochs) == 2
    assert weights(network) == after(1, settings)


def test_the_loss_of_a_cut_epoch_is_the_mean_of_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "time", Clock())
    network = Line()
    loss, seen = recorded(network)
    progress = Trainer(network, SAMPLES, loss, SHORT, Run(time_limit=6.0), None).fit()
    assert 1 < len(seen) < STEPS_PER_EPOCH
    assert progress.epochs[0]["loss"] == pytest.approx(sum(seen) / len(seen))


def test_each_epoch_and_step_is_told() -> None:
    records: list[Mapping[str, Any]] = []
    steps: list[tuple[int, int]] = []
    run = Run(on_epoch=records.append, on_step=lambda step, steps_, _: steps.append((step, steps_)))
    fit(run=run, validate=scores(0.1, 0.3, 0.2))
    assert [record["epoch"] for record in records] == [0, 1, 2]
    assert [record["validation"]["score"] for record in records] == [0.1, 0.3, 0.2]
    assert all(record.keys() >= {"loss", "seconds", "best_epoch", "epochs"} for record in records)
    assert steps == [(step, 3 * STEPS_PER_EPOCH) for step in range(1, 3 * STEPS_PER_EPOCH + 1)]


# ---- a loss that is no number --------------------------------------------------------------------


def exploding(network: nn.Module, healthy_steps: int) -> training.Loss:
    plain, taken = loss_of(network), iter(range(10**6))

    def loss(rows_B: Tensor) -> tuple[Tensor, int]:
        mean, count = plain(rows_B)
        return (mean if next(taken) < healthy_steps else mean * math.nan), count

    return loss


def test_a_loss_that_is_no_number_names_the_rate_and_what_was_kept() -> None:
    network, settings = Line(), replace(SHORT, epochs=9)
    trainer = Trainer(network, SAMPLES, exploding(network, 2 * STEPS_PER_EPOCH), settings, Run(), scores(0.3, 0.5))
    with pytest.raises(WorkFailed, match=r"training\.rate is 0\.05.*of epoch 1, are in the network"):
        trainer.fit()
    assert weights(network) == after(2, settings)


def test_a_first_epoch_that_fails_keeps_nothing() -> None:
    network = Line()
    with pytest.raises(WorkFailed, match="nothing was kept"):
        Trainer(network, SAMPLES, exploding(network, 0), SHORT, Run(), None).fit()


def test_no_checkpoint_is_written_over_with_what_is_no_number(tmp_path: Path) -> None:
    network, run = Line(), Run(checkpoints=tmp_path, checkpoint_seconds=0.0)
    trainer = Trainer(network, SAMPLES, exploding(network, STEPS_PER_EPOCH), SHORT, run, scores(0.3))
    with pytest.raises(WorkFailed, match=f"of epoch 0, are in {tmp_path / CHECKPOINT}"):
        trainer.fit()
    left, _ = training.read_checkpoint(tmp_path / CHECKPOINT, torch.device("cpu"))
    assert all(torch.isfinite(tensor).all() for tensor in left.values())
    assert [file.name for file in tmp_path.iterdir()] == [CHECKPOINT]
