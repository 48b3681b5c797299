"""The only gradient loop of methods: batches, schedule, early stop, checkpoints, one process or several.

A method hands over a network, the number of its samples and a loss of given samples; the loop does the
rest. On a GPU the whole step is captured once and replayed, since these networks are so small that
launching their kernels takes longer than running them.

A checkpoint holds everything: weights, optimiser, random states, the place in the data, the best
weights so far. A run that was killed anywhere and is started again ends with the same weights.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

from sprintrec.checkpoints import read_checkpoint, under, write_checkpoint
from sprintrec.errors import Mistake, WorkFailed
from sprintrec.method import Run, Scores
from sprintrec.processes import Processes
from sprintrec.settings import at_least, shares

StopOn = Literal["item", "item_seen_kept", "code"]
# The mean loss of the samples in some rows, and the number of answers it is a mean of.
Loss = Callable[[Tensor], tuple[Tensor, Tensor | int]]

WATCHED_STEPS = 50  # how often the loss is looked at on the way: each look waits for the device
CHECKPOINT = "checkpoint.safetensors"
SEED_STEP = 1_000_003  # keeps the seeds of epochs and processes apart


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

    def __post_init__(self) -> None:
        at_least(self, epochs=1, batch=1, patience=1, decay=0, clip=0)
        shares(self, "warmup", "beta2")
        if self.rate <= 0:
            raise Mistake(f"setting 'rate' must be above 0, not {self.rate:g}")


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
    epochs: list[dict[str, Any]] = field(default_factory=list)  # what was told of each


class Trainer:
    """One run of the loop. ``fit`` leaves the network with the best weights and returns what happened."""

    def __init__(
        self,
        network: nn.Module,
        sample_count: int,
        loss: Loss,
        settings: TrainingSettings,
        run: Run,
        validate: Callable[[], Scores] | None,
        made_of: Mapping[str, Any] | None = None,
    ) -> None:
        """``made_of`` says what a checkpoint must have been made of to be gone on with: method, settings, data."""
        if sample_count == 0:
            raise Mistake("there is nothing to train on: no user has two events or more in the training part")
        self.network, self.loss, self.settings, self.run, self.validate = network, loss, settings, run, validate
        self.device = next(network.parameters()).device
        self.samples = sample_count
        self.batches = math.ceil(sample_count / settings.batch)
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        self.processes = Processes.here()
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
        self.plan = self._plan(made_of or {})
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}
        self.loss_sum = torch.zeros((), device=self.device, dtype=torch.float64)
        self.captured: CapturedStep | None = None
        self.saved_at = time.monotonic()

    def fit(self) -> Progress:
        on_gpu = self.device.type == "cuda"
        devices = [self.device] if on_gpu else []
        # Streams and graphs belong to the current device, whatever device the tensors are on.
        current: Any = torch.cuda.device(self.device) if on_gpu else nullcontext()
        stoppable = asked_to_stop(self.run.checkpoints is not None)
        with current, torch.random.fork_rng(devices=devices), stoppable as asked:
            torch.manual_seed(self.run.seed + SEED_STEP * self.processes.rank)
            self._resume()
            started = time.monotonic() - self.progress.seconds
            while not (self.progress.finished or self._out_of_time()):
                self._epoch(started, asked)
        if self.best:
            self.network.load_state_dict(self.best)
        self.network.eval()
        return self.progress

    def _epoch(self, started: float, asked: Callable[[], bool]) -> None:
        progress, settings = self.progress, self.settings
        order = self._order(progress.epoch)
        self.network.train()
        for batch in range(progress.batch, self.batches):
            self._step(order[batch * settings.batch : (batch + 1) * settings.batch])
            progress.batch = batch + 1
            progress.seconds, due, stop = self.processes.from_first(time.monotonic() - started, self._due(), asked())
            if progress.batch % WATCHED_STEPS == 0:
                self._watch()
            done = progress.epoch * self.batches + progress.batch
            self.run.on_step(done, settings.epochs * self.batches, progress.seconds)
            if due or stop:
                self._watch()
                self._save()
            if stop:
                raise KeyboardInterrupt
            if self._out_of_time():
                break
        self._watch()
        self._close_epoch(started, asked)

    def _close_epoch(self, started: float, asked: Callable[[], bool]) -> None:
        """Validate, remember the best weights, decide whether to go on, and write the checkpoint."""
        progress, settings = self.progress, self.settings
        record: dict[str, Any] = {"epoch": progress.epoch, "loss": progress.loss_sum / max(progress.batch, 1)}
        self.network.eval()
        score = float(progress.epoch)  # without a validation score the last weights are the best
        if self.validate is not None and self.processes.is_first:
            record["validation"] = dict(self.validate())
            score = record["validation"]["score"]
        score, progress.seconds, stop = self.processes.from_first(score, time.monotonic() - started, asked())
        if score > progress.best_score:
            progress.best_score, progress.best_epoch = score, progress.epoch
            self.best = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
        progress.finished = (
            progress.epoch + 1 >= settings.epochs or progress.epoch - progress.best_epoch >= settings.patience
        )
        record |= {"seconds": progress.seconds, "best_epoch": progress.best_epoch, "epochs": settings.epochs}
        progress.epochs.append(record)
        progress.epoch, progress.batch, progress.loss_sum = progress.epoch + 1, 0, 0.0
        self.loss_sum.zero_()
        self.run.on_epoch(record)
        self._save()
        if stop:
            raise KeyboardInterrupt

    def _step(self, rows_B: Tensor) -> None:
        step = self.progress.epoch * self.batches + self.progress.batch
        rate = self.settings.rate * rate_share(step, self.settings.epochs * self.batches, self.settings)
        if self.device.type == "cuda":
            self.rate.fill_(rate)
            if len(rows_B) == self.settings.batch and self.processes.count == 1:
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
        own_B = self.processes.share(rows_B)
        with autocast:
            # A process without a share works on some row all the same, and its answer counts nothing.
            loss, weight = self.loss(own_B if len(own_B) else rows_B[:1])
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        self.loss_sum += self.processes.average(self.parameters, loss.detach(), weight if len(own_B) else 0)
        if self.settings.clip:
            nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        self.optimizer.step()

    def _order(self, epoch: int) -> Tensor:
        """The epoch's order of samples, a function of seed and epoch alone, so that a run can go on in it."""
        generator = torch.Generator().manual_seed(self.run.seed * SEED_STEP + epoch)
        return torch.randperm(self.samples, generator=generator).to(self.device)

    def _watch(self) -> None:
        """Look at the loss: past this point it was a number all along."""
        self.progress.loss_sum = float(self.loss_sum)
        if math.isfinite(self.progress.loss_sum):
            return
        kept = "nothing was kept"
        if self.best:
            self.network.load_state_dict(self.best)
            where = self.run.checkpoints / CHECKPOINT if self.run.checkpoints else "the network"
            kept = f"the best weights so far, of epoch {self.progress.best_epoch}, are in {where}"
        raise WorkFailed(
            f"the loss is no longer a number in epoch {self.progress.epoch}: "
            f"try a lower learning rate (training.rate is {self.settings.rate}); {kept}"
        )

    def _out_of_time(self) -> bool:
        limit = self.run.time_limit
        return limit is not None and self.progress.seconds >= limit

    # -- checkpoints ---------------------------------------------------------------------------------

    def _due(self) -> bool:
        return self.run.checkpoints is not None and time.monotonic() - self.saved_at >= self.run.checkpoint_seconds

    def _save(self) -> None:
        if self.run.checkpoints is None:
            return
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        for index, parameter in enumerate(self.parameters):
            tensors |= {f"optimizer.{index}.{name}": value for name, value in self.optimizer.state[parameter].items()}
        for kind, state in self._random_states().items():
            for rank, one in enumerate(self.processes.gathered(state)):
                tensors[f"random.{kind}.{rank}"] = one
        tensors["loss_sum"] = self.loss_sum
        if self.processes.is_first:
            about = {"progress": asdict(self.progress), "plan": self.plan}
            write_checkpoint(self.run.checkpoints / CHECKPOINT, tensors, about)
        self.saved_at = time.monotonic()

    def _resume(self) -> None:
        """Take up the checkpoint where there is one, and tell again what was told of its epochs."""
        if self.run.checkpoints is None:
            return
        self.run.checkpoints.mkdir(parents=True, exist_ok=True)
        path = self.run.checkpoints / CHECKPOINT
        if not path.is_file():
            return
        tensors, about = read_checkpoint(path, self.device)
        if about["plan"] != self.plan:
            raise Mistake(
                f"{path} was made with other settings, data or seed: "
                "give another folder, or remove that file to start anew"
            )
        self.progress = Progress(**about["progress"])
        self.network.load_state_dict(under(tensors, "network."))
        self.best = under(tensors, "best.")
        for index, parameter in enumerate(self.parameters):
            state = under(tensors, f"optimizer.{index}.")
            if state:
                self.optimizer.state[parameter] = state
        torch.set_rng_state(tensors[f"random.cpu.{self.processes.rank}"].cpu())
        if self.device.type == "cuda" and f"random.cuda.{self.processes.rank}" in tensors:
            torch.cuda.set_rng_state(tensors[f"random.cuda.{self.processes.rank}"].cpu(), self.device)
        self.loss_sum.copy_(tensors["loss_sum"])
        for record in self.progress.epochs:
            self.run.on_epoch(record)

    def _random_states(self) -> dict[str, Tensor]:
        states = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(self.device)
        return states

    def _plan(self, made_of: Mapping[str, Any]) -> dict[str, Any]:
        """What must be equal for a checkpoint to be gone on with."""
        return {
            **made_of,
            "training": asdict(self.settings),
            "seed": self.run.seed,
            "precision": self.run.precision,
            "processes": self.processes.count,
            "samples": self.samples,
            "shapes": {name: list(tensor.shape) for name, tensor in self.network.state_dict().items()},
        }


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


@contextmanager
def asked_to_stop(handled: bool) -> Iterator[Callable[[], bool]]:
    """Ctrl-C as a question that is asked between steps, where a run can be saved; a second one ends at once."""
    asked = threading.Event()

    def ask(*_: object) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    # Only the main thread may listen, and without a checkpoint there is nothing to save.
    if not handled or threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
