"""SASRec: causal self-attention over item ids, predicting the next item at every place of a history.

Source: Kang & McAuley, ICDM 2018. The network is the post-norm form that later work compares with. Two
losses: ``softmax``, cross-entropy over the whole catalogue, is the strong one; ``binary`` is as
published, one uniform negative per place. Departures: the newest item is always in the last slot; with
``targets = "last"`` every prefix is a sample of its own, trained as it is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from sprintrec.encoder import Encoder, EncoderSettings
from sprintrec.errors import Mistake
from sprintrec.gradient_method import GradientMethod
from sprintrec.objective import sampled_rows
from sprintrec.records import Histories, Past
from sprintrec.training import Loss, TrainingSettings
from sprintrec.windows import Windows, in_pieces, prefix_targets, question_windows, run_targets


@dataclass(frozen=True)
class Settings:
    encoder: EncoderSettings = field(default_factory=lambda: EncoderSettings(width=128, heads=2, dropout=0.4))
    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(batch=256, rate=5e-4))
    targets: Literal["all", "last"] = "all"
    """learn from every place of a run in one pass, or from its last place alone"""
    first_events: bool = False
    """with targets "last": ask for every user's first event too, from an empty history"""
    loss: Literal["softmax", "binary"] = "softmax"
    """cross-entropy over the catalogue, or one uniform negative per place as published"""
    smoothing: float = 0.0
    """label smoothing of the softmax loss"""


class SASRec(GradientMethod):
    Settings = Settings
    network: Encoder

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        if self.settings.targets == "all" and self.settings.encoder.filter_mix:
            raise Mistake('with encoder.filter_mix a place would see its own future: set targets to "last"')

    def _build(self, past: Past) -> Encoder:
        return Encoder(past.item_count, self.settings.encoder)

    def _task(self, past: Past) -> tuple[int, Loss]:
        slots = self.settings.encoder.history
        every = self.settings.targets == "all"
        found = run_targets(past.events, slots) if every else prefix_targets(past.events, self.settings.first_events)
        starts, ends = (torch.from_numpy(array).to(self.device) for array in found)
        windows = Windows(past.events, self.device)

        def loss(rows_B: Tensor) -> tuple[Tensor, Tensor | int]:
            items_BT, known_BT, targets_BT, taught_BT = windows.run(starts[rows_B], ends[rows_B], slots)
            table_ID = self.network.item_table()
            states_BTD = self._states(table_ID, items_BT, known_BT, None if every else 1)
            if not every:
                return self._loss(states_BTD[:, -1], targets_BT[:, -1], table_ID[:-1], None)
            return self._loss(states_BTD.flatten(0, 1), targets_BT.flatten(), table_ID[:-1], taught_BT.flatten())

        return len(ends), loss

    def _states(self, table_ID: Tensor, items_BT: Tensor, known_BT: Tensor, newest: int | None) -> Tensor:
        """States as the network gives them, without the work on padding where that changes nothing."""
        # A filter reads padding too, and so does an empty history, having nothing else to attend to.
        if self.device.type != "cpu" or self.settings.encoder.filter_mix or self.settings.first_events:
            return self.network(table_ID, items_BT, known_BT, newest)

        def ask(rows: Tensor, slots: int) -> tuple[Tensor]:
            states_BTD = self.network(table_ID, items_BT[rows, -slots:], known_BT[rows, -slots:], newest)
            return (states_BTD if newest else F.pad(states_BTD, (0, 0, items_BT.shape[1] - slots, 0)),)

        return in_pieces(known_BT, ask)[0]

    def _loss(
        self, states_ND: Tensor, targets_N: Tensor, items_ID: Tensor, taught_N: Tensor | None
    ) -> tuple[Tensor, Tensor | int]:
        """Mean loss over the places that teach, all or those marked, and how many these are."""
        if taught_N is not None and self.device.type == "cpu":
            # Padding teaches nothing. A captured GPU step needs fixed shapes and weighs it with zero instead.
            states_ND, targets_N, taught_N = states_ND[taught_N], targets_N[taught_N], None
        if self.settings.loss == "binary":
            drawn_N = sampled_rows(targets_N, len(items_ID), negatives=1)[:, 1]
            right_N = (states_ND * F.embedding(targets_N, items_ID)).sum(dim=-1)
            wrong_N = (states_ND * F.embedding(drawn_N, items_ID)).sum(dim=-1)
            loss_N = -F.logsigmoid(right_N) - F.logsigmoid(-wrong_N)
        else:
            scores_NI = states_ND @ items_ID.T
            loss_N = F.cross_entropy(scores_NI, targets_N, reduction="none", label_smoothing=self.settings.smoothing)
        if taught_N is None:
            return loss_N.sum() / max(len(loss_N), 1), len(loss_N)
        taught = taught_N.sum()
        return (loss_N * taught_N).sum() / taught.clamp(min=1), taught

    def item_scores(self, histories: Histories) -> Tensor:
        items_BT, known_BT = question_windows(histories, self.settings.encoder.history, self.device)
        table_ID = self.network.item_table()
        return self.network(table_ID, items_BT, known_BT, newest=1)[:, -1] @ table_ID[:-1].T
