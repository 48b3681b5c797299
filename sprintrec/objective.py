"""The dual-level flow contrastive loss, and every ablation of it as a setting.

Both levels are cross-entropies over the same candidates: the token level over sums of token
log-probabilities, the SID level over cosines of user and code vectors divided by a temperature.

B batch, L digits, M tokens per digit, D width, C candidates, S sampled candidates (the target first).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from sprintrec.errors import Mistake
from sprintrec.network import Answer, CodeTable
from sprintrec.settings import at_least, shares


@dataclass(frozen=True)
class ObjectiveSettings:
    token_level: bool = True
    """score candidates by their tokens' log-probabilities"""
    sid_level: bool = True
    """score candidates by the cosine of user and code vector"""
    contrast: bool = True
    """normalise over candidates; without it the loss is the target's token log-probabilities alone"""
    negatives: int = 0
    """candidates drawn uniformly beside the target, anew for every sample; 0 takes the whole catalogue"""
    rho: float = 1.0
    """share of samples that start from the all-mask code (r = 0); the rest draw r from (0, 1)"""
    tau: float = 0.05
    """temperature of the SID level"""
    token_weight: float = 1.0
    """weight of the token level in the loss"""
    sid_weight: float = 1.0
    """weight of the SID level in the loss"""
    id_weight: float = 1.0
    """weight of the id path's loss, where there is one"""
    smoothing: float = 0.0
    """label smoothing over the candidates of every level"""
    first_events: bool = False
    """ask for every user's first event too, from an empty history"""
    drawn: int = 0
    """0 takes every event as a sample of all paths. Else a sample is a run of events: the id path learns from all
    its places in one pass, the code path from this many events drawn anew: for long histories and little time"""

    def __post_init__(self) -> None:
        at_least(self, negatives=0, drawn=0)
        shares(self, "rho", "smoothing")
        if self.tau <= 0:
            raise Mistake(f"setting 'tau' must be above 0, not {self.tau:g}")
        if not (self.token_level or self.sid_level):
            raise Mistake("settings 'token_level' and 'sid_level' are both off: one of them must score")


def cosine(user_BD: Tensor, vectors_CD: Tensor) -> Tensor:
    """Cosine of every user with every candidate, (B, C)."""
    return F.normalize(user_BD, dim=-1) @ F.normalize(vectors_CD, dim=-1).T


def dual_level_loss(
    answer: Answer,
    vectors_CD: Tensor | None,
    table: CodeTable,
    target_B: Tensor,
    settings: ObjectiveSettings,
    masked_BL: Tensor | None = None,
) -> Tensor:
    """Mean loss of a batch. ``masked``: digits still to be decided (None: all); only these count at the token level."""
    log_p_BLM = answer.log_p_BLM if masked_BL is None else answer.log_p_BLM * masked_BL[..., None]
    if not settings.contrast:
        return -_target_tokens(log_p_BLM, table.codes_CL[target_B]).mean()
    rows_BS = sampled_rows(target_B, len(table), settings.negatives) if settings.negatives else None
    loss = log_p_BLM.new_zeros(())
    if settings.token_level:
        scores = table.score(log_p_BLM) if rows_BS is None else sampled_token_scores(log_p_BLM, table, rows_BS)
        loss = loss + settings.token_weight * _cross_entropy(scores, target_B, rows_BS, settings.smoothing)
    if settings.sid_level:
        assert vectors_CD is not None
        scores = cosine(answer.user_BD, vectors_CD) / settings.tau
        scores = scores if rows_BS is None else scores.gather(1, rows_BS)
        loss = loss + settings.sid_weight * _cross_entropy(scores, target_B, rows_BS, settings.smoothing)
    return loss


def id_level_loss(
    state_BD: Tensor,
    items_ID: Tensor,
    target_B: Tensor,
    settings: ObjectiveSettings,
    taught_B: Tensor | None = None,
) -> Tensor:
    """The id path's own loss: cross-entropy of inner products with the items' vectors, over the same candidates.

    ``taught`` marks the rows that count (None: all)."""
    if taught_B is not None and state_BD.device.type == "cpu":
        # A captured GPU step needs fixed shapes; a CPU need not score what teaches nothing.
        state_BD, target_B, taught_B = state_BD[taught_B], target_B[taught_B], None
    scores = state_BD @ items_ID.T
    rows_BS = sampled_rows(target_B, len(items_ID), settings.negatives) if settings.negatives else None
    scores = scores if rows_BS is None else scores.gather(1, rows_BS)
    return settings.id_weight * _cross_entropy(scores, target_B, rows_BS, settings.smoothing, taught_B)


def sampled_rows(target_B: Tensor, candidates: int, negatives: int) -> Tensor:
    """The target and ``negatives`` others, uniform with replacement: draws from C - 1 step over the target."""
    drawn = torch.randint(max(candidates - 1, 1), (len(target_B), negatives), device=target_B.device)
    drawn = drawn + (drawn >= target_B[:, None])
    return torch.cat([target_B[:, None], drawn.clamp(max=candidates - 1)], dim=1)


def sampled_token_scores(log_p_BLM: Tensor, table: CodeTable, rows_BS: Tensor) -> Tensor:
    """Sums of token log-probabilities of some candidates per sample, (B, S)."""
    codes_BLS = table.codes_CL[rows_BS].transpose(1, 2)
    return log_p_BLM.gather(2, codes_BLS).sum(dim=1)


def _target_tokens(log_p_BLM: Tensor, codes_BL: Tensor) -> Tensor:
    return log_p_BLM.gather(2, codes_BL[..., None]).squeeze(-1).sum(dim=1)


def _cross_entropy(
    scores: Tensor, target_B: Tensor, rows_BS: Tensor | None, smoothing: float, taught_B: Tensor | None = None
) -> Tensor:
    place_B = target_B if rows_BS is None else torch.zeros_like(target_B)  # a sampled target stands first
    if taught_B is None:
        return F.cross_entropy(scores, place_B, label_smoothing=smoothing)
    loss_B = F.cross_entropy(scores, place_B, reduction="none", label_smoothing=smoothing)
    return (loss_B * taught_B).sum() / taught_B.sum().clamp(min=1)
