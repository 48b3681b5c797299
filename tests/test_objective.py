"""The loss and each of its parts against loops written from the paper's equations, one candidate at a time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from sprintrec import objective
from sprintrec.network import Answer, CodeTable
from sprintrec.objective import ObjectiveSettings, cosine, dual_level_loss, id_level_loss, sampled_rows

CODES = [[0, 3, 1], [2, 0, 0], [2, 2, 1], [1, 1, 0], [0, 1, 1], [2, 3, 0]]
SIZES = (3, 4, 2)
TARGETS = [5, 0, 2, 5]
WIDTH = 4
FULL = ObjectiveSettings(tau=0.3, token_weight=0.7, sid_weight=1.9)
MASKED = [[True, True, True], [True, False, True], [False, False, True], [False, True, False]]


@pytest.fixture
def answer() -> Answer:
    """Random log-probabilities and user vectors, in double precision."""
    torch.manual_seed(0)
    logits_BLM = torch.randn(len(TARGETS), len(SIZES), max(SIZES), dtype=torch.float64)
    for digit, size in enumerate(SIZES):
        logits_BLM[:, digit, size:] = -1e4
    users_BD = torch.randn(len(TARGETS), WIDTH, dtype=torch.float64)
    return Answer(logits_BLM.log_softmax(dim=-1).requires_grad_(), users_BD.requires_grad_())


@pytest.fixture
def vectors() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(len(CODES), WIDTH, dtype=torch.float64, requires_grad=True)


def table(dense: bool = False) -> CodeTable:
    return CodeTable(torch.tensor(CODES), SIZES, dense).double()


# ---- the equations, slowly -----------------------------------------------------------------------


def token_sum(log_p: Tensor, code: list[int], masked: list[bool]) -> float:
    """sum over masked l of log pbar(c^l)."""
    return sum(float(log_p[digit, token]) for digit, token in enumerate(code) if masked[digit])


def cosine_of(u: Tensor, v: Tensor) -> float:
    return float(u @ v) / math.sqrt(float(u @ u) * float(v @ v))


def contrast(scores: list[float], right: int, smoothing: float) -> float:
    """-log exp(s_right) / sum exp(s); smoothed, the target is (1 - e) one-hot + e / |S|."""
    total = math.log(sum(math.exp(score) for score in scores))
    losses = [total - score for score in scores]
    return (1 - smoothing) * losses[right] + smoothing * sum(losses) / len(losses)


def slow_loss(
    answer: Answer,
    vectors: Tensor,
    settings: ObjectiveSettings,
    masked: list[list[bool]] | None = None,
    candidates: list[list[int]] | None = None,
) -> float:
    """The mean over samples; ``candidates`` of a sample start with its target, None is the whole catalogue."""
    log_p_BLM, user_BD, vectors = answer.log_p_BLM.detach(), answer.user_BD.detach(), vectors.detach()
    total = 0.0
    for b, target in enumerate(TARGETS):
        hidden = [True] * len(SIZES) if masked is None else masked[b]
        compared = list(range(len(CODES))) if candidates is None else candidates[b]
        tokens = [token_sum(log_p_BLM[b], CODES[c], hidden) for c in compared]
        sids = [cosine_of(user_BD[b], vectors[c]) / settings.tau for c in compared]
        right = compared.index(target)
        if not settings.contrast:
            total -= tokens[right]
            continue
        if settings.token_level:
            total += settings.token_weight * contrast(tokens, right, settings.smoothing)
        if settings.sid_level:
            total += settings.sid_weight * contrast(sids, right, settings.smoothing)
    return total / len(TARGETS)


def fast_loss(
    answer: Answer, vectors: Tensor, settings: ObjectiveSettings, masked: list[list[bool]] | None = None
) -> Tensor:
    masked_BL = None if masked is None else torch.tensor(masked)
    return dual_level_loss(answer, vectors, table(), torch.tensor(TARGETS), settings, masked_BL)


# ---- every part ----------------------------------------------------------------------------------

PARTS = {
    "both levels": FULL,
    "token level": replace(FULL, sid_level=False),
    "SID level": replace(FULL, token_level=False),
    "plain cross-entropy": replace(FULL, contrast=False),
    "as the formula, without a temperature": ObjectiveSettings(tau=1.0),
    "smoothed": replace(FULL, smoothing=0.2),
}


@pytest.mark.parametrize("masked", [None, MASKED], ids=["all masked", "partly committed"])
@pytest.mark.parametrize("settings", PARTS.values(), ids=PARTS)
def test_over_the_whole_catalogue(
    answer: Answer, vectors: Tensor, settings: ObjectiveSettings, masked: list[list[bool]] | None
) -> None:
    assert fast_loss(answer, vectors, settings, masked).item() == pytest.approx(
        slow_loss(answer, vectors, settings, masked), rel=1e-12
    )


@pytest.mark.parametrize("masked", [None, MASKED], ids=["all masked", "partly committed"])
@pytest.mark.parametrize("settings", PARTS.values(), ids=PARTS)
def test_over_sampled_negatives(
    answer: Answer,
    vectors: Tensor,
    settings: ObjectiveSettings,
    masked: list[list[bool]] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Negatives may be drawn twice, as they are with replacement."""
    drawn = [[5, 0, 0, 3], [0, 2, 4, 5], [2, 1, 1, 1], [5, 4, 3, 2]]
    monkeypatch.setattr(objective, "sampled_rows", lambda *_: torch.tensor(drawn))
    settings = replace(settings, negatives=3)
    assert fast_loss(answer, vectors, settings, masked).item() == pytest.approx(
        slow_loss(answer, vectors, settings, masked, drawn), rel=1e-12
    )


def test_a_dense_table_gives_the_same_loss(answer: Answer, vectors: Tensor) -> None:
    dense = dual_level_loss(answer, vectors, table(dense=True), torch.tensor(TARGETS), FULL)
    torch.testing.assert_close(dense, fast_loss(answer, vectors, FULL))


def test_cosines_are_of_every_user_with_every_candidate(answer: Answer, vectors: Tensor) -> None:
    expected = [[cosine_of(u, v) for v in vectors.detach()] for u in answer.user_BD.detach()]
    torch.testing.assert_close(cosine(answer.user_BD, vectors).tolist(), expected)


def test_gradients_are_those_of_the_loss(answer: Answer, vectors: Tensor) -> None:
    def loss(log_p_BLM: Tensor, user_BD: Tensor, vectors_CD: Tensor) -> Tensor:
        return fast_loss(Answer(log_p_BLM, user_BD), vectors_CD, replace(FULL, smoothing=0.1), MASKED)

    allowed = answer.log_p_BLM.detach().clamp(min=-20).requires_grad_()
    assert torch.autograd.gradcheck(loss, (allowed, answer.user_BD, vectors))


@pytest.mark.parametrize("drawn", [None, [[5, 0, 0, 3], [0, 2, 4, 5], [2, 1, 1, 1], [5, 4, 3, 2]]])
def test_the_id_path_contrasts_inner_products(
    answer: Answer, vectors: Tensor, drawn: list[list[int]] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objective, "sampled_rows", lambda *_: torch.tensor(drawn))
    settings = ObjectiveSettings(id_weight=0.6, smoothing=0.1, negatives=3 if drawn else 0)
    expected = 0.0
    for b, target in enumerate(TARGETS):
        compared = list(range(len(CODES))) if drawn is None else drawn[b]
        scores = [float(answer.user_BD[b].detach() @ vectors[c].detach()) for c in compared]
        expected += 0.6 * contrast(scores, compared.index(target), 0.1) / len(TARGETS)
    found = id_level_loss(answer.user_BD, vectors, torch.tensor(TARGETS), settings)
    assert found.item() == pytest.approx(expected, rel=1e-12)


# ---- partly committed codes ----------------------------------------------------------------------


@pytest.mark.parametrize("settings", [FULL, replace(FULL, contrast=False)], ids=["contrast", "plain"])
def test_a_sample_with_nothing_left_to_decide_teaches_no_token(
    answer: Answer, vectors: Tensor, settings: ObjectiveSettings
) -> None:
    """r near 1 may leave no masked digit. Every candidate then scores an empty sum, 0: the token level is the
    constant log |S| (plain: 0), finite and without gradient; the SID level goes on as ever."""
    masked = [[False] * 3] * len(TARGETS)
    only_tokens = fast_loss(answer, vectors, replace(settings, sid_level=False, token_weight=1.0), masked)
    assert only_tokens.item() == pytest.approx(math.log(len(CODES)) if settings.contrast else 0.0)
    (gradient,) = torch.autograd.grad(only_tokens, answer.log_p_BLM)
    assert not gradient.any()


def test_committed_digits_get_no_gradient(answer: Answer, vectors: Tensor) -> None:
    (gradient,) = torch.autograd.grad(fast_loss(answer, vectors, FULL, MASKED), answer.log_p_BLM)
    assert not gradient[~torch.tensor(MASKED)].any()
    assert gradient[torch.tensor(MASKED)].any(dim=-1).all()


# ---- drawing negatives ---------------------------------------------------------------------------


def test_the_target_comes_first_and_is_never_a_negative() -> None:
    torch.manual_seed(0)
    targets = torch.arange(7).repeat(50)
    rows = sampled_rows(targets, 7, 20)
    assert rows.shape == (350, 21)
    assert (rows[:, 0] == targets).all()
    assert (rows[:, 1:] != targets[:, None]).all()


@pytest.mark.parametrize("target", [0, 4, 9])
def test_negatives_are_uniform_over_the_others(target: int) -> None:
    """Chi-square with 8 degrees of freedom stays below 26.1 in 999 of 1,000 draws."""
    torch.manual_seed(3)
    drawn = sampled_rows(torch.full((900,), target), 10, 10)[:, 1:]
    seen = np.bincount(drawn.flatten().numpy(), minlength=10)
    others = np.delete(seen, target)
    assert seen[target] == 0
    assert ((others - 1000) ** 2 / 1000).sum() < 26.1


def test_samples_of_a_batch_draw_anew() -> None:
    torch.manual_seed(0)
    rows = sampled_rows(torch.zeros(50, dtype=torch.long), 1000, 5)
    assert len({tuple(row) for row in rows.tolist()}) == 50


def test_a_catalogue_of_one_has_no_other_to_draw() -> None:
    assert (sampled_rows(torch.zeros(3, dtype=torch.long), 1, 4) == 0).all()
