"""Jumps and few-step decoding against matrix exponentials, counting, and an exact posterior.

As in ``test_flow.py``: L = 2 positions of M = 3 tokens and a mask, nine codes with a random target distribution.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from sprintrec import flow
from sprintrec.flow import SCHEDULERS, Cosine, Linear, Scheduler

LENGTH, TOKENS, MASK, VALUES = 2, 3, 3, 4
CODES = torch.tensor(list(itertools.product(range(TOKENS), repeat=LENGTH)))  # [9, L]
P_V = torch.tensor([0.2, 0.5, 0.3, 0.0], dtype=torch.float64)


def at(time: float) -> Tensor:
    return torch.tensor(time, dtype=torch.float64)


def one_hot(values: Tensor, count: int = VALUES) -> Tensor:
    return flow.delta(values, count).double()


@pytest.fixture(params=sorted(SCHEDULERS))
def kappa(request: pytest.FixtureRequest) -> Scheduler:
    return SCHEDULERS[request.param]


@pytest.fixture
def target() -> Tensor:
    """A random distribution q over the nine codes."""
    weights = torch.from_numpy(np.random.default_rng(3).exponential(size=len(CODES)))
    return weights / weights.sum()


# ---- jumps ---------------------------------------------------------------------------------------


def jump_matrix(r: float, t: float, p_V: Tensor, kappa: Scheduler) -> Tensor:
    """Next-state distribution (column) of every value (row) of one position."""
    return flow.jump(at(r), at(t), p_V, one_hot(torch.arange(VALUES)), kappa).T


def test_commit_probability_is_what_the_average_rate_gives(kappa: Scheduler) -> None:
    r, t = at(0.2), at(0.7)
    from_rate = 1 - torch.exp(-(t - r) * flow.lambda_rt(r, t, kappa))
    assert float(flow.commit_probability(r, t, kappa)) == pytest.approx(float(from_rate))
    assert float(flow.commit_probability(r, at(1.0), kappa)) == 1.0


def test_jump_solves_the_chain_of_its_average_velocity(kappa: Scheduler) -> None:
    r, t = 0.2, 0.7
    generator = flow.average_velocity(at(r), at(t), P_V, one_hot(torch.arange(VALUES)), kappa).T
    assert torch.allclose(jump_matrix(r, t, P_V, kappa), torch.matrix_exp(generator * (t - r)))


def test_jump_composes(kappa: Scheduler) -> None:
    two = jump_matrix(0.5, 0.8, P_V, kappa) @ jump_matrix(0.1, 0.5, P_V, kappa)
    assert torch.allclose(two, jump_matrix(0.1, 0.8, P_V, kappa))


def test_short_jump_is_an_euler_step_of_the_velocity(kappa: Scheduler) -> None:
    h, z_V = 1e-5, one_hot(torch.tensor(MASK))
    step = z_V + h * flow.velocity(at(0.4), P_V, z_V, kappa)
    assert torch.allclose(flow.jump(at(0.4), at(0.4 + h), P_V, z_V, kappa), step, atol=1e-8)


def test_jump_from_start_to_end_reads_the_table(kappa: Scheduler) -> None:
    assert torch.allclose(flow.jump(at(0.0), at(1.0), P_V, one_hot(torch.tensor(MASK)), kappa), P_V)


def test_sampled_jump_draws_from_the_jump(kappa: Scheduler) -> None:
    count, r, t = 40_000, at(0.3), at(0.6)
    x_BL = torch.tensor([MASK, 2]).expand(count, -1)
    logp_BLM = P_V[:TOKENS].log().expand(count, 2, -1)
    drawn_BL = flow.sampled_jump(
        x_BL, logp_BLM, flow.commit_probability(r, t, kappa), MASK, torch.Generator().manual_seed(2)
    )
    expected_V = flow.jump(r, t, P_V, one_hot(torch.tensor(MASK)), kappa)
    assert torch.allclose(one_hot(drawn_BL[:, 0]).mean(dim=0), expected_V, atol=0.012)
    assert (drawn_BL[:, 1] == 2).all()


def test_sampled_jump_never_draws_a_token_outside_the_digit() -> None:
    logp_BLM = torch.tensor([0.5, 0.5, 0.0]).log().expand(5000, 1, -1)
    masks_BL = torch.full((5000, 1), MASK)
    drawn_BL = flow.sampled_jump(masks_BL, logp_BLM, torch.tensor(1.0), MASK, torch.Generator().manual_seed(0))
    assert sorted(drawn_BL.unique().tolist()) == [0, 1]


def test_surest_positions_commit_first() -> None:
    logp_BLM = torch.tensor([[[0.6, 0.4], [0.1, 0.9], [0.3, 0.7]]]).log()
    x_BL = torch.tensor([[9, 9, 9]])
    assert flow.surest_jump(x_BL, logp_BLM, 1, 9).tolist() == [[9, 1, 9]]
    assert flow.surest_jump(x_BL, logp_BLM, 2, 9).tolist() == [[9, 1, 1]]
    assert flow.surest_jump(torch.tensor([[1, 9, 9]]), logp_BLM, 2, 9).tolist() == [[1, 1, 9]]


# ---- decoding ------------------------------------------------------------------------------------


def exact_map(target: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """log p_{1|r,1} of the chain from all masks: the target among the codes that agree with the state."""

    def predict(x_BL: Tensor, r_B: Tensor) -> Tensor:
        agrees_BC = ((x_BL[:, None] == CODES) | (x_BL[:, None] == MASK)).all(dim=-1)
        joint_BC = agrees_BC * target
        of_code_BC = joint_BC / joint_BC.sum(dim=1, keepdim=True).clamp_min(1e-300)
        return torch.einsum("bc,clm->blm", of_code_BC, one_hot(CODES, TOKENS)).log()

    return predict


def masks(count: int, length: int = LENGTH) -> Tensor:
    return torch.full((count, length), MASK)


def counted(tokens_BL: Tensor) -> Tensor:
    """The share of every code."""
    return (tokens_BL[:, None] == CODES).all(dim=-1).double().mean(dim=0)


def test_one_step_reads_the_table_and_asks_once(kappa: Scheduler, target: Tensor) -> None:
    asked: list[float] = []

    def predict(x_BL: Tensor, r_B: Tensor) -> Tensor:
        asked.extend(r_B.tolist())
        return exact_map(target)(x_BL, r_B)

    tokens_BL, table_BLM = flow.decode(predict, masks(1), 1, kappa, MASK)
    assert asked == [0.0]
    assert torch.equal(table_BLM, exact_map(target)(masks(1), torch.zeros(1)))
    assert torch.equal(tokens_BL, table_BLM.argmax(dim=-1))


@pytest.mark.parametrize("steps", [1, 2, 8])
def test_sampled_decoding_with_the_exact_posterior(kappa: Scheduler, target: Tensor, steps: int) -> None:
    """Marginals are right at any number of steps; positions that commit in one step do so independently.

    So the joint distribution is q, mixed with the product of q's marginals at the chance of one shared step.
    """
    tokens_BL, _ = flow.decode(
        exact_map(target), masks(40_000), steps, kappa, MASK, torch.Generator().manual_seed(steps)
    )
    marginals_LM = torch.einsum("c,clm->lm", target, one_hot(CODES, TOKENS))
    assert torch.allclose(one_hot(tokens_BL, TOKENS).mean(dim=0), marginals_LM, atol=0.012)
    together = float(kappa(torch.linspace(0, 1, steps + 1)).diff().square().sum())
    product = torch.outer(*marginals_LM).flatten()
    assert torch.allclose(counted(tokens_BL), together * product + (1 - together) * target, atol=0.012)


@pytest.mark.parametrize("steps", [1, 2])
def test_surest_decoding_finds_an_easy_mode(kappa: Scheduler, steps: int) -> None:
    target = torch.full((9,), 0.05, dtype=torch.float64)
    target[5] = 0.6
    tokens_BL, _ = flow.decode(exact_map(target), masks(1), steps, kappa, MASK)
    assert tokens_BL.tolist() == [CODES[5].tolist()]


def test_two_steps_keep_to_codes_that_exist_where_one_step_does_not(kappa: Scheduler) -> None:
    """Codes 01, 10, 20 with .4, .3, .3: the likeliest tokens one by one make 00, which does not exist."""
    target = torch.zeros(9, dtype=torch.float64)
    target[[1, 3, 6]] = torch.tensor([0.4, 0.3, 0.3], dtype=torch.float64)
    one, _ = flow.decode(exact_map(target), masks(1), 1, kappa, MASK)
    two, table_BLM = flow.decode(exact_map(target), masks(1), 2, kappa, MASK)
    assert one.tolist() == [[0, 0]]
    assert two.tolist() in ([[1, 0]], [[2, 0]])
    # The table keeps, per position, the answer it was decided from: the second digit first, then the first given it.
    expected = torch.tensor([[0.0, 0.5, 0.5], [0.6, 0.4, 0.0]], dtype=torch.float64)
    assert torch.allclose(table_BLM[0].exp(), expected)


@dataclass(frozen=True)
class Hasty(Linear):
    """kappa_t = sqrt(t): most positions early."""

    def __call__(self, t: Tensor) -> Tensor:
        return t.sqrt()


@pytest.mark.parametrize(
    ("kappa", "steps", "counts"),
    [
        (Linear(), 4, [0, 2, 4, 6]),
        (Linear(), 3, [0, 3, 5]),
        (Linear(), 1, [0]),
        (Cosine(), 4, [0, 1, 2, 5]),
        (Cosine(), 8, [0, 1, 2, 3, 4, 5, 6, 7]),
        (Hasty(), 4, [0, 4, 6, 7]),
        (Hasty(), 8, [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_positions_commit_at_the_pace_of_kappa(kappa: Scheduler, steps: int, counts: list[int]) -> None:
    """Decided positions before each step, of 8; at least one a step, at least one left for each step to come."""
    seen: list[int] = []

    def predict(x_BL: Tensor, r_B: Tensor) -> Tensor:
        seen.append(int((x_BL != MASK).sum()))
        return torch.zeros(1, 8, TOKENS)

    tokens_BL, _ = flow.decode(predict, masks(1, 8), steps, kappa, MASK)
    assert seen == counts
    assert (tokens_BL != MASK).all()


@pytest.mark.parametrize("steps", [0, 3])
def test_steps_out_of_range(steps: int, target: Tensor) -> None:
    with pytest.raises(ValueError, match="1 to 2 steps"):
        flow.decode(exact_map(target), masks(1), steps, SCHEDULERS["linear"], MASK)
