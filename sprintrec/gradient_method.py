"""What every method with a network shares: fit through the one loop, score in blocks, rank, save, restore.

A subclass builds its network, says what a training sample is and what it costs, and scores all items
for a block of histories. Everything else is the same for all and stands here once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from sprintrec.method import Method, Run, Scores, popularity_order
from sprintrec.ranking import TieOrder, exclude_seen, listed
from sprintrec.records import Histories, Past, Rankings, content_hash
from sprintrec.settings import to_mapping
from sprintrec.training import Loss, Progress, Trainer

ASKED_AT_ONCE = 1024
POPULARITY = "popularity"


@contextmanager
def full_precision() -> Iterator[None]:
    """Matrix products without the GPU's shortened mantissa: training tolerates it, a ranking may not."""
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed


class GradientMethod(Method):
    """A method whose settings have a ``training`` part and whose knowledge is a network's weights."""

    trained_by_gradient: ClassVar[bool] = True
    network: nn.Module
    device: torch.device
    progress: Progress

    @abstractmethod
    def _build(self, past: Past) -> nn.Module:
        """The untrained network on ``self.device``; tables it needs beside it are kept on self."""

    @abstractmethod
    def _task(self, past: Past) -> tuple[int, Loss]:
        """The number of training samples, and the loss of a batch of their rows."""

    @abstractmethod
    def item_scores(self, histories: Histories) -> Tensor:
        """Every item's score for every history of a block, (B, I)."""

    def begin(self, past: Past, run: Run) -> None:
        """The untrained network, as the seed makes it."""
        with torch.random.fork_rng(devices=[run.device] if run.device.startswith("cuda") else []):
            torch.manual_seed(run.seed)
            self._set_up(past, past.popularity(), run.device)

    def _fit(self, past: Past, validate: Callable[[Method], Scores] | None, run: Run) -> None:
        self.begin(past, run)
        samples, loss = self._task(past)
        check = None if validate is None else lambda: validate(self)
        made_of = self._made_of(past) if run.checkpoints is not None else {}
        self.progress = Trainer(self.network, samples, loss, self.settings.training, run, check, made_of).fit()

    def score_blocks(self, histories: Histories) -> Iterator[tuple[Histories, Tensor]]:
        """The histories a block at a time, each with every item's score: memory stays bounded."""
        self.network.eval()
        with torch.no_grad():
            for start in range(0, len(histories), ASKED_AT_ONCE):
                block = histories.slice(start, start + ASKED_AT_ONCE)
                scores_BI = self.item_scores(block)
                # Without a history there is nothing to ask the network: popular items answer.
                empty_B1 = torch.from_numpy(block.lengths == 0).to(self.device)[:, None]
                yield block, torch.where(empty_B1, self.log_popularity_I, scores_BI)

    def _recommend(self, histories: Histories, k: int, exclude: bool) -> Rankings:
        with full_precision():
            return self._lists(histories, k, exclude)

    def _lists(self, histories: Histories, k: int, exclude: bool) -> Rankings:
        lists = [(np.zeros((0, k), np.int32), np.zeros((0, k), np.float32))]
        for block, scores_BI in self.score_blocks(histories):
            eligible_BI = exclude_seen(scores_BI, block) if exclude else scores_BI
            lists.append(listed(*self.ties.top(eligible_BI, k), k))
        return Rankings(*(np.concatenate(parts) for parts in zip(*lists, strict=True)))

    def state(self) -> dict[str, np.ndarray]:
        weights = {name: tensor.cpu().numpy() for name, tensor in self.network.state_dict().items()}
        return {**weights, POPULARITY: self.popularity}

    def restore(self, state: Mapping[str, np.ndarray], past: Past, device: str = "cpu") -> None:
        self._set_up(past, np.asarray(state[POPULARITY]), device)
        weights = {name: torch.from_numpy(np.array(array)) for name, array in state.items() if name != POPULARITY}
        self.network.load_state_dict(weights)
        self.network.eval()

    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.network.parameters())

    def _made_of(self, past: Past) -> dict[str, Any]:
        """What sets this run apart from others, for its checkpoints."""
        events, codes, vectors = past.events, past.codes, past.vectors
        known = [events.items, events.offsets, events.may_be_target(), np.array(past.item_count)]
        known += [codes.table] if self.uses_codes and codes is not None else []
        known += [vectors] if self.uses_vectors and vectors is not None else []
        return {"method": self.name(), "settings": to_mapping(self.settings), "data": content_hash(*known)}

    def _set_up(self, past: Past, popularity: np.ndarray, device: str) -> None:
        self.device = torch.device(device)
        self.popularity = popularity
        self.ties = TieOrder(popularity_order(popularity), self.device)
        self.log_popularity_I = torch.from_numpy(np.log(popularity + 1.0)).float().to(self.device)
        self.network = self._build(past).to(self.device)
