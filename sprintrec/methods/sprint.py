"""SPRINT: all tokens of the next item's code, and a user vector, from one forward pass.

Source: the paper "SPRINT: Single-step Generative Recommendation". Settings of the ``paper-*`` recipes are
those of its hyper-parameter table; where its published configuration says more, the recipe's comment
does. Departures, each a setting and off unless a recipe asks for it: the whole catalogue as negatives
(``objective.negatives``), one code per item (the code table), a path of its own for item ids (``ids``),
for texts (``score.texts``) and for what followed what (``score.transitions``), an item's learned vector and
text beside its code (``network.item_vectors``, ``network.item_texts``), levels added as they are (``score.form``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sprintrec.encoder import Encoder, EncoderSettings
from sprintrec.errors import Mistake
from sprintrec.flow import SCHEDULERS, partial_state, sample_times
from sprintrec.gradient_method import GradientMethod
from sprintrec.methods import itemknn
from sprintrec.network import Answer, CodeTable, Followers, NetworkSettings, SprintNetwork, SprintPaths, text_profile
from sprintrec.objective import ObjectiveSettings, cosine, dual_level_loss, id_level_loss
from sprintrec.ranking import ScoreSettings, combined
from sprintrec.records import Histories, Past
from sprintrec.training import Loss, TrainingSettings
from sprintrec.windows import Windows, in_pieces, prefix_targets, question_windows, run_targets

DENSE_UP_TO = 400_000_000  # entries of the 0/1 code matrix a GPU may hold


@dataclass(frozen=True)
class TextSettings:
    decay: float = 0.7
    """how much less each older item's text counts"""
    newest: int = 5
    """items whose texts count"""


@dataclass(frozen=True)
class Settings:
    network: NetworkSettings = field(default_factory=NetworkSettings)
    ids: EncoderSettings = field(default_factory=lambda: EncoderSettings(layers=0))
    """the path for item ids; without layers there is none"""
    texts: TextSettings = field(default_factory=TextSettings)
    transitions: itemknn.Settings = field(default_factory=lambda: itemknn.Settings(pairs="after", recency=0.8))
    """what followed what in training, where ``score.transitions`` has a weight"""
    objective: ObjectiveSettings = field(default_factory=ObjectiveSettings)
    score: ScoreSettings = field(default_factory=ScoreSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)


class Sprint(GradientMethod):
    Settings = Settings
    uses_codes = True
    ranks_cold_items = True  # by their codes and texts, unless a path for ids pushes down what it never met
    network: SprintPaths

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self.uses_vectors = self.settings.network.item_texts or self.settings.score.texts > 0
        self.ranks_cold_items = not (self.settings.ids.layers or self.settings.network.item_vectors)
        self.slots = max(self.settings.network.history, self.settings.ids.history if self.settings.ids.layers else 0)
        if self.settings.objective.drawn and self.settings.ids.filter_mix:
            raise Mistake(
                "ids.filter_mix reads the whole window, so runs would see their future: set objective.drawn to 0"
            )
        if self.settings.score.transitions:
            self.slots = max(self.slots, self.settings.transitions.history)

    def _build(self, past: Past) -> SprintPaths:
        """Items that have more than their code are candidates themselves; else the distinct codes are."""
        assert past.codes is not None
        codes, network, ids = past.codes, self.settings.network, self.settings.ids
        self.texts_IV = None
        if past.vectors is not None and self.uses_vectors:
            self.texts_IV = torch.from_numpy(centred(past.vectors)).to(self.device)
        candidates, candidate_of_item = codes.distinct()
        if network.item_vectors or ids.layers or self.uses_vectors or self.settings.score.transitions:
            candidates, candidate_of_item = codes.table, np.arange(past.item_count)
        dense = self.device.type == "cuda" and len(candidates) * max(codes.sizes) * len(codes.sizes) <= DENSE_UP_TO
        self.table = CodeTable(torch.from_numpy(candidates.astype(np.int64)), codes.sizes, dense).to(self.device)
        self.candidate_of_item = torch.from_numpy(candidate_of_item.astype(np.int64)).to(self.device)
        own_texts = self.texts_IV if network.item_texts else None
        return SprintPaths(
            SprintNetwork(codes.sizes, network, past.item_count, own_texts),
            Encoder(past.item_count, ids) if ids.layers else None,
            self._followers(past) if self.settings.score.transitions else None,
        )

    def _followers(self, past: Past) -> Followers:
        """Counted from the training events; where there are none, the saved model's counts are about to be loaded."""
        shape = (past.item_count, min(self.settings.transitions.neighbours, past.item_count))
        if not len(past.events.items):
            return Followers(torch.zeros(shape), torch.zeros(shape))
        counted = itemknn.ItemKNN(self.settings.transitions)
        counted.fit(past)
        return Followers(torch.from_numpy(counted.neighbours), torch.from_numpy(counted.similarities))

    def _task(self, past: Past) -> tuple[int, Loss]:
        objective, ids = self.settings.objective, self.network.ids
        windows = Windows(past.events, self.device)
        starts, ends = self._on_device(prefix_targets(past.events, objective.first_events))

        def loss_of_events(rows_B: Tensor) -> tuple[Tensor, int]:
            start_B, end_B = starts[rows_B], ends[rows_B]
            window = windows.cut(start_B, end_B, self.slots)
            item_B = windows.items[end_B].long()
            loss = self._code_loss(*window, item_B)
            if ids is not None:
                items_ID = ids.item_table()
                state_BD = ids(items_ID, *self._id_window(*window), newest=1)[:, -1]
                loss = loss + id_level_loss(state_BD, items_ID[:-1], item_B, objective)
            return loss, len(rows_B)

        if not objective.drawn:
            return len(ends), loss_of_events
        slots = self.settings.ids.history
        run_starts, run_ends = self._on_device(run_targets(past.events, slots))

        def loss_of_runs(rows_B: Tensor) -> tuple[Tensor, int]:
            drawn_N = torch.randint(len(ends), (len(rows_B) * objective.drawn,), device=self.device)
            window = windows.cut(starts[drawn_N], ends[drawn_N], self.settings.network.history)
            loss = self._code_loss(*window, windows.items[ends[drawn_N]].long())
            if ids is not None:
                items_BT, known_BT, next_BT, taught_BT = windows.run(run_starts[rows_B], run_ends[rows_B], slots)
                items_ID = ids.item_table()
                states = ids(items_ID, items_BT, known_BT).flatten(0, 1)
                loss = loss + id_level_loss(states, items_ID[:-1], next_BT.flatten(), objective, taught_BT.flatten())
            return loss, len(rows_B)

        return len(run_ends), loss_of_runs

    def _on_device(self, arrays: tuple[np.ndarray, ...]) -> tuple[Tensor, ...]:
        return tuple(torch.from_numpy(array).to(self.device) for array in arrays)

    def _code_loss(self, items_BT: Tensor, known_BT: Tensor, item_B: Tensor) -> Tensor:
        objective, codes = self.settings.objective, self.network.codes
        target_B = self.candidate_of_item[item_B]
        state_BL = masked_BL = r_B = None
        if objective.rho < 1:
            generator = default_generator(self.device)
            r_B, _ = sample_times(len(target_B), objective.rho, generator, self.device)
            codes_BL = self.table.codes_CL[target_B]
            state_BL, masked_BL = partial_state(codes_BL, r_B, SCHEDULERS["linear"], 0, generator)
        answer = self._taught(*self._code_window(items_BT, known_BT), state_BL, masked_BL, r_B)
        vectors_CD = codes.code_vectors(self.table) if objective.sid_level else None
        return dual_level_loss(answer, vectors_CD, self.table, target_B, objective, masked_BL)

    def _taught(self, rows_BT: Tensor, known_BT: Tensor, *state: Tensor | None) -> Answer:
        """The code path's answer to a training batch, without the work on padding where that changes nothing."""
        codes, network = self.network.codes, self.settings.network
        if self.device.type != "cpu" or not (network.mask_memory or network.architecture == "decoder-only"):
            return codes(self.table, rows_BT, known_BT, *state)

        def ask(rows: Tensor, slots: int) -> Answer:
            its_state = (None if part is None else part[rows] for part in state)
            return codes(self.table, rows_BT[rows, -slots:], known_BT[rows, -slots:], *its_state)

        return Answer(*in_pieces(known_BT, ask))

    def item_scores(self, histories: Histories) -> Tensor:
        # Either every level is scored per item, or none is: candidates are items wherever a path knows items.
        return combined(self.levels(histories), self.settings.score)[:, self.candidate_of_item]

    def levels(self, histories: Histories) -> dict[str, Tensor]:
        """Each level's scores of all candidates, (B, C), under the name of its weight."""
        objective, codes, ids = self.settings.objective, self.network.codes, self.network.ids
        items_BT, known_BT = question_windows(histories, self.slots, self.device)
        answer = codes(self.table, *self._code_window(items_BT, known_BT))
        levels: dict[str, Tensor] = {}
        if objective.token_level or not objective.contrast:
            levels["tokens"] = self.table.score(answer.log_p_BLM)
        if objective.sid_level and objective.contrast:
            levels["vectors"] = cosine(answer.user_BD, codes.code_vectors(self.table)) / objective.tau
        if ids is not None:
            items_ID = ids.item_table()
            levels["ids"] = ids(items_ID, *self._id_window(items_BT, known_BT), newest=1)[:, -1] @ items_ID[:-1].T
        if self.settings.score.texts and self.texts_IV is not None:
            texts = self.settings.texts
            profile_BV = text_profile(self.texts_IV, items_BT, known_BT, texts.decay, texts.newest)
            levels["texts"] = cosine(profile_BV, self.texts_IV)
        if self.network.followers is not None:
            transitions = self.settings.transitions
            newest = slice(-transitions.history, None)
            levels["transitions"] = self.network.followers(
                items_BT[:, newest], known_BT[:, newest], transitions.recency
            )
        return levels

    def _code_window(self, items_BT: Tensor, known_BT: Tensor) -> tuple[Tensor, Tensor]:
        slots = self.settings.network.history
        return self.candidate_of_item[items_BT[:, -slots:]], known_BT[:, -slots:]

    def _id_window(self, items_BT: Tensor, known_BT: Tensor) -> tuple[Tensor, Tensor]:
        slots = self.settings.ids.history
        return items_BT[:, -slots:], known_BT[:, -slots:]


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
