"""SPRINT: all tokens of the next item's code, and a user vector, from one forward pass.

Source: the paper "SPRINT: Single-step Generative Recommendation". Settings of the ``paper-*`` recipes are
those of its hyper-parameter table; where its published configuration says more, the recipe's comment
does. Departures, each a setting: the whole catalogue as negatives (``objective.negatives``), one code
per item (the code table), a learned vector and the text of an item beside its code
(``network.item_vectors``, ``network.item_texts``), levels added as log-probabilities (``score.form``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sprintrec.flow import SCHEDULERS, partial_state, sample_times
from sprintrec.gradient_method import GradientMethod
from sprintrec.network import CodeTable, NetworkSettings, SprintNetwork
from sprintrec.objective import ObjectiveSettings, cosine, dual_level_loss
from sprintrec.ranking import ScoreSettings, combined
from sprintrec.records import Histories, Past
from sprintrec.training import TrainingSettings
from sprintrec.windows import Windows, prefix_targets, question_windows

DENSE_UP_TO = 400_000_000  # entries of the 0/1 code matrix a GPU may hold


@dataclass(frozen=True)
class Settings:
    network: NetworkSettings = field(default_factory=NetworkSettings)
    objective: ObjectiveSettings = field(default_factory=ObjectiveSettings)
    score: ScoreSettings = field(default_factory=ScoreSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)


class Sprint(GradientMethod):
    Settings = Settings
    uses_codes = True
    ranks_cold_items = True
    network: SprintNetwork

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self.uses_vectors = self.settings.network.item_texts

    def _build(self, past: Past) -> SprintNetwork:
        """Items that have more than their code are candidates themselves; else the distinct codes are."""
        assert past.codes is not None
        codes, network = past.codes, self.settings.network
        candidates, candidate_of_item = codes.distinct()
        if network.item_vectors or network.item_texts:
            candidates, candidate_of_item = codes.table, np.arange(past.item_count)
        texts = None
        if network.item_texts:
            assert past.vectors is not None
            texts = torch.from_numpy(centred(past.vectors))
        dense = self.device.type == "cuda" and len(candidates) * max(codes.sizes) * len(codes.sizes) <= DENSE_UP_TO
        self.table = CodeTable(torch.from_numpy(candidates.astype(np.int64)), codes.sizes, dense).to(self.device)
        self.candidate_of_item = torch.from_numpy(candidate_of_item.astype(np.int64)).to(self.device)
        return SprintNetwork(codes.sizes, network, past.item_count, texts)

    def _task(self, past: Past) -> tuple[int, Callable[[Tensor], Tensor]]:
        starts, ends = (torch.from_numpy(array).to(self.device) for array in prefix_targets(past.events))
        windows = Windows(past.events, self.device)

        def loss(rows_B: Tensor) -> Tensor:
            start_B, end_B = starts[rows_B], ends[rows_B]
            items_BT, known_BT = windows.cut(start_B, end_B, self.settings.network.history)
            return self._loss(items_BT, known_BT, self.candidate_of_item[windows.items[end_B].long()])

        return len(ends), loss

    def _loss(self, items_BT: Tensor, known_BT: Tensor, target_B: Tensor) -> Tensor:
        objective = self.settings.objective
        state_BL = masked_BL = r_B = None
        if objective.rho < 1:
            generator = default_generator(self.device)
            r_B, _ = sample_times(len(target_B), objective.rho, generator, self.device)
            codes_BL = self.table.codes_CL[target_B]
            state_BL, masked_BL = partial_state(codes_BL, r_B, SCHEDULERS["linear"], 0, generator)
        answer = self.network(self.table, self.candidate_of_item[items_BT], known_BT, state_BL, masked_BL, r_B)
        vectors_CD = self.network.code_vectors(self.table) if objective.sid_level else None
        return dual_level_loss(answer, vectors_CD, self.table, target_B, objective, masked_BL)

    def item_scores(self, histories: Histories) -> Tensor:
        token_BC, vector_BC = self.levels(histories)
        return combined(token_BC, vector_BC, self.settings.score)[:, self.candidate_of_item]

    def levels(self, histories: Histories) -> tuple[Tensor | None, Tensor | None]:
        """The two levels' scores of all candidates, (B, C) each: sums of log p, and cosines over tau."""
        objective = self.settings.objective
        items_BT, known_BT = question_windows(histories, self.settings.network.history, self.device)
        answer = self.network(self.table, self.candidate_of_item[items_BT], known_BT)
        token_BC = vector_BC = None
        if objective.token_level or not objective.contrast:
            token_BC = self.table.score(answer.log_p_BLM)
        if objective.sid_level and objective.contrast:
            vector_BC = cosine(answer.user_BD, self.network.code_vectors(self.table)) / objective.tau
        return token_BC, vector_BC


def centred(vectors: np.ndarray) -> np.ndarray:
    """Vectors minus their mean, at length one; an item without a vector stays zero."""
    vectors = np.asarray(vectors, np.float32)
    known = np.abs(vectors).sum(axis=1) > 0
    shifted = np.where(known[:, None], vectors - vectors[known].mean(axis=0), 0.0)
    return (shifted / np.maximum(np.linalg.norm(shifted, axis=1, keepdims=True), 1e-12)).astype(np.float32)


def default_generator(device: torch.device) -> torch.Generator:
    """The generator that dropout on the device draws from, so that one random state describes a run."""
    if device.type == "cuda":
        return torch.cuda.default_generators[device.index or 0]
    return torch.default_generator
