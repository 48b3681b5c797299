"""The only gradient loop of methods: batches, schedule, early stop, checkpoints.

A method hands over a network, the number of its samples and a loss of given samples; the loop does the
rest. On a GPU the whole step is captured once and replayed, since these networks are so small that
launching their kernels takes longer than running them.

A checkpoint holds everything: weights, optimiser, random states, the place in the data, the best
weights so far. A run that was killed anywhere and is started again ends with the same weights.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from sprintrec.errors import Mistake, WorkFailed
from sprintrec.method import Run, Scores

StopOn = Literal["item", "item_seen_kept", "code"]
WATCHED_STEPS = 50  # how often the loss is looked at on the way: each look waits for the device


@dataclass(frozen=True)
class TrainingSettings:
    epochs: int = 150
    """passes over the samples at most; the schedule is laid out for these"""
    batch: int = 1024
    """samples per step"""
    rate: float = 1e-3
    """learning rate at its highest"""
    decay: float = 0.0
    """AdamW weight decay"""
    beta2: float = 0.999
    """AdamW second-moment memory"""
    schedule: Literal["cosine", "constant"] = "cosine"
    """after the warm-up: down to zero along a cosine, or level"""
    warmup: float = 0.1
    """share of all steps over which the rate rises from zero"""
    clip: float = 1.0
    """largest gradient norm; 0 leaves gradients alone"""
    patience: int = 10
    """epochs without a better validation score before stopping"""
    stop_on: StopOn = "item"
    """the level of the validation score 0.8 N@10 + 0.2 R@10"""


@dataclass
class Progress:
    """Where a run stands: all of its state that is not a tensor."""

    epoch: int = 0
    batch: int = 0  # batches of this epoch already done
    best_epoch: int = -1
    best_score: float = -math.inf
    loss_sum: float = 0.0
    seconds: float = 0.0
    finished: bool = False
    epochs: list[dict[str, Any]] = field(default_factory=list)


class Trainer:
    """One run of the loop. ``fit`` leaves the network with the best weights and returns what happened."""

    def __init__(
        self,
        network: nn.Module,
        sample_count: int,
        loss: Callable[[Tensor], Tensor],
        settings: TrainingSettings,
        run: Run,
        validate: Callable[[], Scores] | None,
    ) -> None:
        if sample_count == 0:
            raise Mistake("there is nothing to train on: no user has two events or more in the training part")
        self.network, self.loss, self.settings, self.run, self.validate = network, loss, settings, run, validate
        self.device = next(network.parameters()).device
        self.samples = sample_count
        self.batches = math.ceil(sample_count / settings.batch)
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        on_gpu = self.device.type == "cuda"
        self.rate = torch.tensor(settings.rate, device=self.device)
        self.optimizer = torch.optim.AdamW(
            self.parameters,
            lr=self.rate if on_gpu else settings.rate,
            betas=(0.9, settings.beta2),
            weight_decay=settings.decay,
            fused=True,
            capturable=on_gpu,
        )
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}
        self.loss_sum = torch.zeros((), device=self.device, dtype=torch.float64)
        self.captured: CapturedStep | None = None
        self.saved_at = time.monotonic()

    def fit(self) -> Progress:
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(self.run.seed)
            self._resume()
            started = time.monotonic() - self.progress.seconds
            while not self.progress.finished:
                self._epoch(started)
        if self.best:
            self.network.load_state_dict(self.best)
        self.network.eval()
        return self.progress

    def _epoch(self, started: float) -> None:
        progress, settings = self.progress, self.settings
        order = self._order(progress.epoch)
        self.network.train()
        for batch in range(progress.batch, self.batches):
            self._step(order[batch * settings.batch : (batch + 1) * settings.batch])
            progress.batch, progress.seconds = batch + 1, time.monotonic() - started
            if progress.batch % WATCHED_STEPS == 0:
                self._watch()
            done = progress.epoch * self.batches + progress.batch
            self.run.on_step(done, settings.epochs * self.batches, progress.seconds)
            if self._out_of_time():
                break
            self._checkpoint_now_and_then()
        self._watch()
        self._close_epoch(started)

    def _close_epoch(self, started: float) -> None:
        """Validate, remember the best weights, decide whether to go on, and write the checkpoint."""
        progress, settings = self.progress, self.settings
        record: dict[str, Any] = {"epoch": progress.epoch, "loss": progress.loss_sum / max(progress.batch, 1)}
        self.network.eval()
        if self.validate is not None:
            scores = self.validate()
            record["validation"] = dict(scores)
        score = record["validation"]["score"] if self.validate is not None else float(progress.epoch)
        if score > progress.best_score:
            progress.best_score, progress.best_epoch = score, progress.epoch
            self.best = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
        progress.seconds = record["seconds"] = time.monotonic() - started
        progress.finished = (
            progress.epoch + 1 >= settings.epochs
            or progress.epoch - progress.best_epoch >= settings.patience
            or self._out_of_time()
        )
        progress.epochs.append(record)
        progress.epoch, progress.batch, progress.loss_sum = progress.epoch + 1, 0, 0.0
        self.loss_sum.zero_()
        self.run.on_epoch({**record, "best_epoch": progress.best_epoch, "epochs": settings.epochs})
        self._save()

    def _step(self, rows_B: Tensor) -> None:
        step = self.progress.epoch * self.batches + self.progress.batch
        rate = self.settings.rate * rate_share(step, self.settings.epochs * self.batches, self.settings)
        if self.device.type == "cuda":
            self.rate.fill_(rate)
            if len(rows_B) == self.settings.batch:
                if self.captured is None:
                    self.captured = CapturedStep(self._update, rows_B)
                self.captured(rows_B)
                return
        else:
            self.optimizer.param_groups[0]["lr"] = rate
        self._update(rows_B)

    def _update(self, rows_B: Tensor) -> None:
        autocast: Any = nullcontext()
        if self.run.precision == "bfloat16":
            autocast = torch.autocast(self.device.type, torch.bfloat16)
        with autocast:
            loss = self.loss(rows_B)
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        if self.settings.clip:
            nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        self.optimizer.step()
        self.loss_sum += loss.detach()

    def _order(self, epoch: int) -> Tensor:
        """The epoch's order of samples, a function of seed and epoch alone, so that a run can go on in it."""
        generator = torch.Generator().manual_seed(self.run.seed * 1_000_003 + epoch)
        return torch.randperm(self.samples, generator=generator).to(self.device)

    def _watch(self) -> None:
        self.progress.loss_sum = float(self.loss_sum)
        if not math.isfinite(self.progress.loss_sum):
            kept = "nothing was kept"
            if self.best:
                self.network.load_state_dict(self.best)
                kept = f"the weights of epoch {self.progress.best_epoch} are the best so far"
            raise WorkFailed(
                f"the loss is no longer a number in epoch {self.progress.epoch}: "
                f"try a lower learning rate (training.rate is {self.settings.rate}); {kept}"
            )

    def _out_of_time(self) -> bool:
        limit = self.run.time_limit
        return limit is not None and self.progress.seconds >= limit

    # -- checkpoints ---------------------------------------------------------------------------------

    def _checkpoint_now_and_then(self) -> None:
        due = time.monotonic() - self.saved_at >= self.run.checkpoint_seconds
        if due and self.run.checkpoints is not None and self.progress.batch < self.batches:
            self._watch()
            self._save()

    def _save(self) -> None:
        if self.run.checkpoints is None:
            return
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        for index, parameter in enumerate(self.parameters):
            tensors |= {f"optimizer.{index}.{name}": value for name, value in self.optimizer.state[parameter].items()}
        tensors["random.cpu"] = torch.get_rng_state()
        if self.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(self.device)
        tensors["loss_sum"] = self.loss_sum
        about = {"progress": asdict(self.progress), "plan": self._plan()}
        write_checkpoint(self.run.checkpoints / "checkpoint.safetensors", tensors, about)
        self.saved_at = time.monotonic()

    def _resume(self) -> None:
        if self.run.checkpoints is None:
            return
        self.run.checkpoints.mkdir(parents=True, exist_ok=True)
        path = self.run.checkpoints / "checkpoint.safetensors"
        if not path.is_file():
            return
        tensors, about = read_checkpoint(path, self.device)
        if about["plan"] != self._plan():
            raise Mistake(
                f"{path} was made with other settings, data or seed: "
                "give another folder, or remove that file to start anew"
            )
        self.progress = Progress(**about["progress"])
        self.network.load_state_dict(_under(tensors, "network."))
        self.best = _under(tensors, "best.")
        for index, parameter in enumerate(self.parameters):
            state = _under(tensors, f"optimizer.{index}.")
            if state:
                # A CPU optimiser counts its steps in a CPU tensor; a captured one on its device.
                self.optimizer.state[parameter] = state
        torch.set_rng_state(tensors["random.cpu"].cpu())
        if self.device.type == "cuda" and "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"].cpu(), self.device)
        self.loss_sum.copy_(tensors["loss_sum"])

    def _plan(self) -> dict[str, Any]:
        """What must be equal for a checkpoint to be gone on with."""
        shapes = {name: list(tensor.shape) for name, tensor in self.network.state_dict().items()}
        return {"settings": asdict(self.settings), "seed": self.run.seed, "samples": self.samples, "shapes": shapes}


class CapturedStep:
    """A training step on a GPU, captured as one graph at its first use and replayed with other samples."""

    def __init__(self, update: Callable[[Tensor], None], rows_B: Tensor) -> None:
        self.rows_B = rows_B.clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        # The first calls allocate what the graph must find in place; they train like any other step would.
        with torch.cuda.stream(side):
            update(self.rows_B)
        torch.cuda.current_stream().wait_stream(side)
        self.warm = True
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            update(self.rows_B)

    def __call__(self, rows_B: Tensor) -> None:
        if self.warm:  # the constructor has already trained on these rows
            self.warm = False
            return
        self.rows_B.copy_(rows_B)
        self.graph.replay()


def rate_share(step: int, steps: int, settings: TrainingSettings) -> float:
    """The learning rate of a step as a share of the highest: a linear rise, then a cosine to zero or a level."""
    rise = settings.warmup * steps
    if step < rise:
        return (step + 1) / max(rise, 1.0)
    if settings.schedule == "constant":
        return 1.0
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(steps - rise, 1.0)))


def write_checkpoint(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Tensors and their description in one file, whole or not at all."""
    draft = path.with_suffix(".draft")
    try:
        plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(plain, draft, {"about": json.dumps(about)})
        with open(draft, "rb") as written:
            os.fsync(written.fileno())
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        reason = error.strerror or error
        raise WorkFailed(f"the checkpoint {path} could not be written ({reason}); the one before is kept") from error


def read_checkpoint(path: Path, device: torch.device) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            about = json.loads(file.metadata()["about"])
            return {name: file.get_tensor(name).to(device) for name in file.keys()}, about
    except Exception as error:  # safetensors raises its own kinds for every way a file can be damaged
        raise Mistake(f"{path} can't be read as a checkpoint ({error}): remove it to start anew") from error


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
