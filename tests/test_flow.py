"""The theory of the paper against numerical integration, counting, and a chain small enough to enumerate.

The chain has L = 2 positions of M = 3 tokens and a mask, V = 4 values, so 16 states and 9 targets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from sprintrec import flow
from sprintrec.flow import SCHEDULERS, Scheduler

LENGTH, TOKENS, MASK, VALUES = 2, 3, 3, 4
STATES = torch.tensor(list(itertools.product(range(VALUES), repeat=LENGTH)))  # [16, L]
CODES = torch.tensor(list(itertools.product(range(TOKENS), repeat=LENGTH)))  # [9, L]
SOURCES = {
    "all masks": torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64),
    "random tokens": torch.tensor([0.2, 0.5, 0.3, 0.0], dtype=torch.float64),
}


def at(time: float) -> Tensor:
    return torch.tensor(time, dtype=torch.float64)


def one_hot(values: Tensor, count: int = VALUES) -> Tensor:
    return flow.delta(values, count).double()


def trapezoid(function: Callable[[Tensor], Tensor], r: float, t: float, points: int = 4001) -> Tensor:
    taus = torch.linspace(r, t, points, dtype=torch.float64)
    return torch.trapezoid(torch.stack([function(tau) for tau in taus]), taus, dim=0)


@pytest.fixture(params=sorted(SCHEDULERS))
def kappa(request: pytest.FixtureRequest) -> Scheduler:
    return SCHEDULERS[request.param]


@pytest.fixture(params=sorted(SOURCES))
def source_V(request: pytest.FixtureRequest) -> Tensor:
    return SOURCES[request.param]


@pytest.fixture
def target() -> Tensor:
    """A random distribution q over the nine codes."""
    weights = torch.from_numpy(np.random.default_rng(3).exponential(size=len(CODES)))
    return weights / weights.sum()


# ---- the chain, enumerated -----------------------------------------------------------------------


def path_given_target(tau: Tensor, kappa: Scheduler, source_V: Tensor) -> Tensor:
    """p_tau(z | x_1) of every code and state [9, 16]."""
    per_position = torch.stack(
        [
            flow.conditional_path(tau, source_V, one_hot(CODES[:, digit]), kappa)[:, STATES[:, digit]]
            for digit in range(LENGTH)
        ]
    )
    return per_position.prod(dim=0)


def path(tau: Tensor, kappa: Scheduler, source_V: Tensor, target: Tensor) -> Tensor:
    """p_tau(z) of every state [16]."""
    return target @ path_given_target(tau, kappa, source_V)


def posterior(tau: Tensor, kappa: Scheduler, source_V: Tensor, target: Tensor) -> Tensor:
    """p_{1|tau}(x^l | z) by Bayes over the nine codes [16, L, V]; zero for states never visited."""
    joint = target[:, None] * path_given_target(tau, kappa, source_V)
    of_code = joint / joint.sum(dim=0).clamp_min(1e-300)
    return torch.einsum("cs,clv->slv", of_code, one_hot(CODES))


def generator_matrix(tau: Tensor, kappa: Scheduler, source_V: Tensor, target: Tensor) -> Tensor:
    """The rate from every state z (column) to every state x (row): one position changes at a time."""
    v_SLV = flow.velocity(tau, posterior(tau, kappa, source_V, target), one_hot(STATES), kappa)
    same_XZL = STATES[:, None] == STATES[None]
    matrix = torch.zeros(len(STATES), len(STATES), dtype=torch.float64)
    for digit in range(LENGTH):
        others_stay = same_XZL[:, :, [other for other in range(LENGTH) if other != digit]].all(dim=-1)
        matrix += v_SLV[:, digit, STATES[:, digit]].T * others_stay
    return matrix


# ---- schedulers ----------------------------------------------------------------------------------


def test_schedulers_run_from_nought_to_one_and_never_fall(kappa: Scheduler) -> None:
    t = torch.linspace(0, 1, 101, dtype=torch.float64)
    assert float(kappa(t)[0]) == 0.0
    assert float(kappa(t)[-1]) == 1.0
    assert (kappa.derivative(t) >= 0).all()
    assert torch.allclose(kappa.inverse(kappa(t)), t, atol=1e-7)
    numerical = (kappa(t + 1e-6) - kappa(t - 1e-6)) / 2e-6
    assert torch.allclose(kappa.derivative(t), numerical, atol=1e-6)


def test_every_position_has_committed_at_one_in_single_precision(kappa: Scheduler) -> None:
    assert float(kappa(torch.tensor(1.0))) == 1.0
    assert float(flow.commit_probability(torch.tensor(0.3), torch.tensor(1.0), kappa)) == 1.0


# ---- Proposition 1 and the two conditions on a generator -----------------------------------------


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_conditional_velocity_generates_the_conditional_path(kappa: Scheduler, tau: float) -> None:
    """Kolmogorov: dp_tau/dtau = sum over z of v_tau(x, z | x_1) p_tau(z | x_1), at every position value."""
    x1_V, mask_V = one_hot(torch.tensor(1)), one_hot(torch.tensor(MASK))
    later, earlier = (flow.conditional_path(at(tau + h), mask_V, x1_V, kappa) for h in (1e-6, -1e-6))
    v_ZV = flow.velocity(at(tau), x1_V, one_hot(torch.arange(VALUES)), kappa)
    flow_in = flow.conditional_path(at(tau), mask_V, x1_V, kappa) @ v_ZV
    assert torch.allclose((later - earlier) / 2e-6, flow_in, atol=1e-7)


def test_conditional_velocity_is_a_valid_generator(kappa: Scheduler) -> None:
    x1, z = torch.cartesian_prod(torch.arange(TOKENS), torch.arange(VALUES)).T
    v_V = flow.velocity(at(0.7), one_hot(x1), one_hot(z), kappa)
    assert torch.allclose(v_V.sum(dim=-1), torch.zeros(len(z), dtype=torch.float64))  # what leaves z arrives
    assert (v_V[one_hot(z) == 0] >= 0).all()  # no negative jump rate
    assert (v_V[x1 == z] == 0).all()  # what has arrived stays


def test_conditional_path_is_pinned_at_both_ends(kappa: Scheduler) -> None:
    x1_V, mask_V = one_hot(torch.tensor([0, 2])), one_hot(torch.tensor(MASK))
    assert torch.equal(flow.conditional_path(at(0.0), mask_V, x1_V, kappa), mask_V.expand(2, -1))
    assert torch.allclose(flow.conditional_path(at(1.0), mask_V, x1_V, kappa), x1_V)


# ---- Proposition 2 -------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "t"), [(0.0, 0.5), (0.3, 0.9), (0.6, 0.61)])
def test_average_of_the_conditional_velocity_has_the_closed_form(kappa: Scheduler, r: float, t: float) -> None:
    x1_V, z_V = one_hot(torch.tensor([0, 1, 2, 2])), one_hot(torch.tensor([MASK, MASK, 0, 2]))
    integrated = trapezoid(lambda tau: flow.velocity(tau, x1_V, z_V, kappa), r, t) / (t - r)
    assert torch.allclose(flow.average_velocity(at(r), at(t), x1_V, z_V, kappa), integrated, atol=1e-5)


def test_lambda_by_hand() -> None:
    """Linear, [0, 1/2]: 2 ln 2."""
    assert float(flow.lambda_rt(at(0.0), at(0.5), SCHEDULERS["linear"])) == pytest.approx(1.3862943611)


def test_rates_are_never_evaluated_at_one(kappa: Scheduler) -> None:
    for call in (
        lambda: flow.lambda_rt(at(0.0), at(1.0), kappa),
        lambda: flow.rate(at(1.0), kappa),
        lambda: flow.average_posterior(lambda tau: tau, at(0.0), at(1.0), kappa),
    ):
        with pytest.raises(ValueError, match="infinite at t = 1"):
            call()
    with pytest.raises(ValueError, match="r < t"):
        flow.lambda_rt(at(0.5), at(0.5), kappa)


# ---- Proposition 3 -------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.05, 0.4, 0.9])
def test_marginal_velocity_satisfies_kolmogorov_on_the_chain(
    kappa: Scheduler, source_V: Tensor, target: Tensor, tau: float
) -> None:
    later, earlier = (path(at(tau + h), kappa, source_V, target) for h in (1e-6, -1e-6))
    generated = generator_matrix(at(tau), kappa, source_V, target) @ path(at(tau), kappa, source_V, target)
    assert torch.allclose((later - earlier) / 2e-6, generated, atol=1e-7)


def test_marginal_velocity_generates_the_path_from_start_to_end(
    kappa: Scheduler, source_V: Tensor, target: Tensor
) -> None:
    steps, end = 60, 0.9
    p_S = path(at(0.0), kappa, source_V, target)
    for step in range(steps):
        middle = at((step + 0.5) * end / steps)
        p_S = torch.matrix_exp(generator_matrix(middle, kappa, source_V, target) * (end / steps)) @ p_S
    assert torch.allclose(p_S, path(at(end), kappa, source_V, target), atol=2e-4)


def test_average_of_the_marginal_velocity_has_the_form_posterior_minus_current(
    kappa: Scheduler, source_V: Tensor, target: Tensor
) -> None:
    r, t, z_SLV = 0.2, 0.8, one_hot(STATES)

    def at_tau(tau: Tensor) -> Tensor:
        return posterior(tau, kappa, source_V, target)

    averaged = flow.average_posterior(at_tau, at(r), at(t), kappa)
    integrated = trapezoid(lambda tau: flow.velocity(tau, at_tau(tau), z_SLV, kappa), r, t, 801) / (t - r)
    assert torch.allclose(flow.average_velocity(at(r), at(t), averaged, z_SLV, kappa), integrated, atol=1e-5)


def test_average_posterior_is_the_weighted_time_average(kappa: Scheduler) -> None:
    def drifting(tau: Tensor) -> Tensor:
        return torch.softmax(torch.stack([3 * tau, torch.ones_like(tau), -tau]), dim=0)

    weighted = trapezoid(lambda tau: flow.rate(tau, kappa) * drifting(tau), 0.1, 0.95)
    weight = trapezoid(lambda tau: flow.rate(tau, kappa), 0.1, 0.95)
    averaged = flow.average_posterior(drifting, at(0.1), at(0.95), kappa)
    assert torch.allclose(averaged, weighted / weight, atol=1e-5)
    plain = trapezoid(drifting, 0.1, 0.95) / 0.85
    assert not torch.allclose(averaged, plain, atol=1e-2)  # the weights matter


def test_from_all_masks_the_posterior_does_not_depend_on_time(kappa: Scheduler, target: Tensor) -> None:
    early, late = (posterior(at(tau), kappa, SOURCES["all masks"], target) for tau in (0.05, 0.9))
    assert torch.allclose(early, late)
    early, late = (posterior(at(tau), kappa, SOURCES["random tokens"], target) for tau in (0.05, 0.9))
    assert not torch.allclose(early, late, atol=0.1)


# ---- times and states of training ----------------------------------------------------------------


def test_sampled_times() -> None:
    count = 20_000
    r_B, t_B = flow.sample_times(count, 0.75, torch.Generator().manual_seed(0))
    assert (t_B == 1).all()
    assert float((r_B == 0).float().mean()) == pytest.approx(0.75, abs=0.015)
    later_B = r_B[r_B > 0]
    assert (later_B < 1).all()
    assert float(later_B.mean()) == pytest.approx(0.5, abs=0.02)
    assert float(later_B.var()) == pytest.approx(1 / 12, abs=0.005)


@pytest.mark.parametrize(("rho", "anchored"), [(1.0, 1.0), (0.0, 0.0)])
def test_rho_at_its_ends(rho: float, anchored: float) -> None:
    r_B, _ = flow.sample_times(1000, rho, torch.Generator().manual_seed(0))
    assert float((r_B == 0).float().mean()) == anchored


def test_ends_below_one_are_uniform_after_the_start() -> None:
    r_B, t_B = flow.sample_times(20_000, 0.5, torch.Generator().manual_seed(0), ends_at_one=False)
    assert (t_B > r_B).all()
    assert (t_B <= 1).all()
    share_B = (t_B - r_B) / (1 - r_B)
    assert float(share_B.mean()) == pytest.approx(0.5, abs=0.01)
    assert abs(float(torch.corrcoef(torch.stack([share_B, r_B]))[0, 1])) < 0.03


def test_same_generator_same_times_and_states() -> None:
    def draw() -> list[Tensor]:
        generator = torch.Generator().manual_seed(5)
        r_B, t_B = flow.sample_times(8, 0.5, generator, ends_at_one=False)
        return [r_B, t_B, *flow.partial_state(CODES[:8], r_B, SCHEDULERS["linear"], MASK, generator)]

    assert all(torch.equal(one, two) for one, two in zip(draw(), draw(), strict=True))


def test_partial_states_follow_the_conditional_path(kappa: Scheduler) -> None:
    count, r = 40_000, 0.6
    x1 = torch.tensor([1, 2])
    x_BL, masked_BL = flow.partial_state(
        x1.expand(count, -1), torch.full((count,), r), kappa, MASK, torch.Generator().manual_seed(1)
    )
    assert torch.equal(masked_BL, x_BL == MASK)
    expected_LV = flow.conditional_path(at(r), one_hot(torch.tensor(MASK)), one_hot(x1), kappa)
    counted_LV = one_hot(x_BL).mean(dim=0)
    assert torch.allclose(counted_LV, expected_LV, atol=0.012)
    both = float(masked_BL.all(dim=1).float().mean())  # positions are decided independently
    assert both == pytest.approx(float(1 - kappa(at(r))) ** 2, abs=0.012)


def test_states_at_the_two_ends(kappa: Scheduler) -> None:
    x_BL, masked_BL = flow.partial_state(CODES, torch.zeros(9), kappa, MASK, torch.Generator())
    assert masked_BL.all()
    assert (x_BL == MASK).all()
    x_BL, masked_BL = flow.partial_state(CODES, torch.ones(9), kappa, MASK, torch.Generator())
    assert torch.equal(x_BL, CODES)
    assert not masked_BL.any()
