"""One run on several processes, as ``torchrun`` starts them: who is first, and how many answers become one.

Every process takes its share of each batch; one sum over processes makes the gradients what a single
process would have found. The first alone validates, watches the clock and writes; the others follow
its numbers. For a single process all of this is a matter of course and nothing is sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as distributed
from torch import Tensor, nn

PATIENCE = timedelta(days=1)  # the others wait while the first validates


@dataclass(frozen=True)
class Processes:
    """This process among those that train together."""

    rank: int = 0
    count: int = 1

    @classmethod
    def here(cls) -> Processes:
        if distributed.is_available() and distributed.is_initialized():
            return cls(distributed.get_rank(), distributed.get_world_size())
        return cls()

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def share(self, rows_B: Tensor) -> Tensor:
        """This process's rows of a batch; none where there are fewer rows than processes."""
        return rows_B[self.rank :: self.count]

    def average(self, parameters: Sequence[nn.Parameter], loss: Tensor, weight: Tensor | float) -> Tensor:
        """Make every gradient the mean over all processes, and give the mean loss; ``weight``: answers of this one."""
        if self.count == 1:
            return loss
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        parts = [*(gradient.flatten() for gradient in gradients), loss.detach()[None], torch.ones_like(loss)[None]]
        flat = torch.cat(parts) * weight
        distributed.all_reduce(flat)
        flat /= flat[-1].clamp(min=1)
        places = flat[:-2].split([gradient.numel() for gradient in gradients])
        for gradient, place in zip(gradients, places, strict=True):
            gradient.copy_(place.view_as(gradient))
        return flat[-2]

    def from_first(self, *numbers: float) -> list[float]:
        """The first process's numbers, for all."""
        if self.count == 1:
            return list(numbers)
        sent = torch.tensor(numbers, dtype=torch.float64)
        distributed.broadcast(sent, src=0)
        return sent.tolist()

    def gathered(self, state: Tensor) -> list[Tensor]:
        """The same tensor of every process, in their order."""
        if self.count == 1:
            return [state]
        found = [torch.empty_like(state) for _ in range(self.count)]
        distributed.all_gather(found, state)
        return found


@contextmanager
def joined() -> Iterator[Processes]:
    """Meet the other processes where ``torchrun`` started several, and part from them at the end."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Processes()
        return
    # torch imports this by itself later on, and then keeps the group as a default argument: its threads would
    # outlive the interpreter and now and then abort the process.
    import torch.distributed.nn.functional

    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, timeout=PATIENCE)
    try:
        yield Processes.here()
    finally:
        distributed.destroy_process_group()


def own_gpu() -> str:
    """The GPU of this process: the one of its number on this machine."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
