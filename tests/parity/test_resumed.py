"""A run that stops anywhere and is started again ends like one that never stopped, to the last bit."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from sprintrec.errors import Mistake, WorkFailed
from sprintrec.method import Run
from sprintrec.training import CHECKPOINT, Loss, Progress, Trainer, TrainingSettings

SAMPLES = 40
SETTINGS = TrainingSettings(epochs=4, batch=10, rate=0.05, patience=2)
STEPS = 16


class Powercut(Exception):
    pass


class Drift(nn.Module):
    """A network that drops, so that every step depends on the random numbers before it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(7)
        self.layers = nn.Sequential(nn.Linear(2, 6), nn.Dropout(0.3), nn.Linear(6, 1))


def loss_of(network: Drift) -> Loss:
    x_N2 = torch.randn(SAMPLES, 2, generator=torch.Generator().manual_seed(1))
    return lambda rows_B: (
        (network.layers(x_N2[rows_B])[:, 0] - x_N2[rows_B, 0] * x_N2[rows_B, 1]).abs().mean(),
        len(rows_B),
    )


def fit(
    run: Run, settings: TrainingSettings = SETTINGS, made_of: Mapping[str, Any] | None = None
) -> tuple[dict[str, Tensor], Progress]:
    """Scores of epoch e: .1 .4 .3 .2, so that the best weights are not the last ones."""
    network = Drift()
    trainer = Trainer(
        network,
        SAMPLES,
        loss_of(network),
        settings,
        run,
        lambda: {"score": (0.1, 0.4, 0.3, 0.2)[trainer.progress.epoch]},
        made_of,
    )
    progress = trainer.fit()
    return network.state_dict(), progress


def kept_in(folder: Path, **more: Any) -> Run:
    return Run(checkpoints=folder, checkpoint_seconds=0.0, **more)


def failing_after(steps: int, event: Callable[[], None]) -> Callable[[int, int, float], None]:
    def on_step(step: int, _: int, __: float) -> None:
        if step == steps:
            event()

    return on_step


def cut() -> None:
    raise Powercut


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def assert_same_end(one: tuple[dict[str, Tensor], Progress], other: tuple[dict[str, Tensor], Progress]) -> None:
    for name, tensor in one[0].items():
        assert torch.equal(tensor, other[0][name]), name
    untimed = [[{**record, "seconds": 0} for record in progress.epochs] for _, progress in (one, other)]
    assert untimed[0] == untimed[1]
    assert one[1].best_epoch == other[1].best_epoch == 1


@pytest.mark.parametrize("steps", range(1, STEPS + 1))
def test_stopped_after_any_step(steps: int, tmp_path: Path) -> None:
    with pytest.raises(Powercut):
        fit(kept_in(tmp_path, on_step=failing_after(steps, cut)))
    assert_same_end(fit(kept_in(tmp_path)), fit(Run()))


def test_stopped_at_every_step(tmp_path: Path) -> None:
    """Each start does one step more than the one before."""
    for steps in range(2, STEPS + 1):
        with pytest.raises(Powercut):
            fit(kept_in(tmp_path, on_step=failing_after(steps, cut)))
    assert_same_end(fit(kept_in(tmp_path)), fit(Run()))


def test_stopped_between_rare_checkpoints(tmp_path: Path) -> None:
    """Within an epoch nothing was written: the epoch is done again."""
    with pytest.raises(Powercut):
        fit(Run(checkpoints=tmp_path, on_step=failing_after(7, cut)))
    assert_same_end(fit(Run(checkpoints=tmp_path)), fit(Run()))


def test_checkpoints_change_nothing(tmp_path: Path) -> None:
    assert_same_end(fit(kept_in(tmp_path)), fit(Run()))


def test_a_full_disk_on_the_way_leaves_a_run_to_go_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(WorkFailed, match=r"No space left on device.*before is kept"):
        fit(kept_in(tmp_path, on_step=failing_after(6, lambda: patched.setattr(os, "replace", full))))
    assert [file.name for file in tmp_path.iterdir()] == [CHECKPOINT]
    assert_same_end(fit(kept_in(tmp_path)), fit(Run()))


# ---- Ctrl-C --------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [3, 4, 6, STEPS])
def test_ctrl_c_saves_where_it_is(steps: int, tmp_path: Path) -> None:
    """Also where no checkpoint was due: not a step is lost."""
    with pytest.raises(KeyboardInterrupt):
        fit(Run(checkpoints=tmp_path, on_step=failing_after(steps, ctrl_c)))
    done: list[int] = []
    assert_same_end(fit(Run(checkpoints=tmp_path, on_step=lambda step, *_: done.append(step))), fit(Run()))
    # Within an epoch it is heard after the next step, at the end of one before that.
    first = steps + 1 if steps % 4 == 0 else steps + 2
    assert done == list(range(first, STEPS + 1))


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    def impatient() -> None:
        ctrl_c()
        ctrl_c()
        raise AssertionError("the second one was not heard")

    with pytest.raises(KeyboardInterrupt):
        fit(Run(checkpoints=tmp_path, on_step=failing_after(3, impatient)))


def test_ctrl_c_without_checkpoints_ends_at_once() -> None:
    def asked() -> None:
        ctrl_c()
        raise AssertionError("it was not heard")

    with pytest.raises(KeyboardInterrupt):
        fit(Run(on_step=failing_after(3, asked)))


def test_the_way_ctrl_c_was_handled_before_is_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    fit(kept_in(tmp_path))
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        fit(Run(checkpoints=tmp_path / "other", on_step=failing_after(3, ctrl_c)))
    assert signal.getsignal(signal.SIGINT) is before


# ---- what a checkpoint belongs to ----------------------------------------------------------------


def test_a_finished_run_is_not_done_again_but_told_again(tmp_path: Path) -> None:
    fit(kept_in(tmp_path))
    told: list[int] = []
    end = fit(kept_in(tmp_path, on_step=failing_after(1, cut), on_epoch=lambda record: told.append(record["epoch"])))
    assert_same_end(end, fit(Run()))
    assert told == [0, 1, 2, 3]


def test_more_time_goes_on_where_time_ran_out(tmp_path: Path) -> None:
    _, progress = fit(kept_in(tmp_path, time_limit=1e-9))
    assert len(progress.epochs) == 1
    _, progress = fit(kept_in(tmp_path))
    assert [record["epoch"] for record in progress.epochs] == [0, 1, 2, 3]


OTHERS: dict[str, tuple[dict[str, Any], TrainingSettings, dict[str, Any]]] = {
    "settings": ({}, replace(SETTINGS, rate=0.01), {"data": "a"}),
    "seed": ({"seed": 1}, SETTINGS, {"data": "a"}),
    "data": ({}, SETTINGS, {"data": "b"}),
    "precision": ({"precision": "bfloat16"}, SETTINGS, {"data": "a"}),
}


@pytest.mark.parametrize(("run", "settings", "made_of"), OTHERS.values(), ids=OTHERS)
def test_a_checkpoint_of_another_run_is_a_mistake(
    tmp_path: Path, run: dict[str, Any], settings: TrainingSettings, made_of: dict[str, Any]
) -> None:
    fit(kept_in(tmp_path), made_of={"data": "a"})
    before = (tmp_path / CHECKPOINT).read_bytes()
    with pytest.raises(Mistake, match=f"{CHECKPOINT} was made with other settings, data or seed: give another folder"):
        fit(kept_in(tmp_path, **run), settings, made_of)
    assert (tmp_path / CHECKPOINT).read_bytes() == before


def test_a_damaged_checkpoint_is_a_mistake(tmp_path: Path) -> None:
    fit(kept_in(tmp_path))
    path = tmp_path / CHECKPOINT
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(Mistake, match="no whole checkpoint of ours"):
        fit(kept_in(tmp_path))
