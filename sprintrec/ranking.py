"""Score the whole catalogue and take the exact best K: plain, slow and right. Every engine must equal this.

Order of events, fixed: add the levels (with ``softmax`` each normalised over all candidates), give
every item its candidate's score, take out what is excluded, rank. Items with equal scores stand in the
order of their training popularity, then of their row.

B batch, C candidates, I items, K list length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from sprintrec.records import Histories


@dataclass(frozen=True)
class ScoreSettings:
    form: Literal["log", "softmax"] = "log"
    """``log`` adds weighted scores as they are; ``softmax`` first takes each level's softmax over all candidates"""
    tokens: float = 1.0
    """weight of the token level: the sum of a code's token log-probabilities"""
    vectors: float = 1.0
    """weight of the SID level: the cosine of user and code vector over tau"""
    ids: float = 1.0
    """weight of the id path, where there is one"""
    texts: float = 0.0
    """weight of the cosine between an item's text and the texts of the newest items"""
    transitions: float = 0.0
    """weight of how often an item followed the newest items in training"""


def combined(levels_BC: Mapping[str, Tensor], settings: ScoreSettings) -> Tensor:
    """The score of every candidate from its scores at each level, named as their weights are."""
    if not levels_BC:
        raise ValueError("no level was scored")
    softmax = settings.form == "softmax"
    parts = [getattr(settings, name) * (level.softmax(-1) if softmax else level) for name, level in levels_BC.items()]
    return torch.stack(parts).sum(0) if len(parts) > 1 else parts[0]


class TieOrder:
    """Items in the order that settles ties, and the top K under it."""

    def __init__(self, tie_rank: np.ndarray, device: torch.device | str) -> None:
        self.items_I = torch.from_numpy(np.argsort(tie_rank)).to(device)

    def top(self, scores_BI: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Scores and items of the best k of every row, ties settled exactly, also across place k."""
        k = min(k, scores_BI.shape[1])
        ordered_BI = scores_BI[:, self.items_I]
        value_BK, place_BK = ordered_BI.topk(k, dim=1)
        # topk leaves open which of several equal scores it takes; where the last one is tied, sort the row.
        tied_B = (ordered_BI >= value_BK[:, -1:]).sum(dim=1) > k
        place_BK = place_BK.sort(dim=1).values
        value_BK, by_value = ordered_BI.gather(1, place_BK).sort(dim=1, descending=True, stable=True)
        place_BK = place_BK.gather(1, by_value)
        if bool(tied_B.any()):
            value, place = ordered_BI[tied_B].sort(dim=1, descending=True, stable=True)
            value_BK[tied_B], place_BK[tied_B] = value[:, :k], place[:, :k]
        return value_BK, self.items_I[place_BK]


def exclude_seen(scores_BI: Tensor, histories: Histories) -> Tensor:
    """The scores with every history's own items at minus infinity."""
    rows = torch.from_numpy(histories.row_of_each()).to(scores_BI.device)
    items = torch.from_numpy(np.ascontiguousarray(histories.items, np.int64)).to(scores_BI.device)
    return scores_BI.index_put((rows, items), scores_BI.new_tensor(-torch.inf))


def listed(value_BK: Tensor, item_BK: Tensor, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Lists as numpy, k wide: -1 and -inf where a row has fewer eligible items."""
    items = item_BK.masked_fill(value_BK == -torch.inf, -1).cpu().numpy().astype(np.int32)
    values = value_BK.float().cpu().numpy()
    missing = k - items.shape[1]
    return (
        np.pad(items, ((0, 0), (0, missing)), constant_values=-1),
        np.pad(values, ((0, 0), (0, missing)), constant_values=-np.inf),
    )
