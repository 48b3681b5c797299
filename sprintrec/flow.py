"""The theory of the paper as small pure functions: path, velocities, states x_r, jumps, few-step decoding.

A semantic ID travels from all masks (time 0) to the target's tokens (time 1); kappa_t is the share of
positions decided by time t. Every velocity here has one form, rate times (p - delta_z): with
p = delta_{x_1} it is the conditional one, with p = the posterior of x_1 it is the marginal one.

Letters at the end of a tensor's name: B batch, L positions, M tokens of a position, V values of a
position (its tokens and the mask). Times are tensors that broadcast over the positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch
from torch import Tensor


class Scheduler(Protocol):
    """kappa: kappa_0 = 0, kappa_1 = 1, never falling."""

    def __call__(self, t: Tensor) -> Tensor:
        """kappa_t."""

    def derivative(self, t: Tensor) -> Tensor:
        """d kappa_t / dt."""

    def inverse(self, share: Tensor) -> Tensor:
        """The t at which kappa_t is the share."""


@dataclass(frozen=True)
class Linear:
    """kappa_t = t: positions commit at an even pace."""

    def __call__(self, t: Tensor) -> Tensor:
        return t

    def derivative(self, t: Tensor) -> Tensor:
        return torch.ones_like(t)

    def inverse(self, share: Tensor) -> Tensor:
        return share


@dataclass(frozen=True)
class Cosine:
    """kappa_t = 1 - cos(pi t / 2): few positions commit early, many late."""

    def __call__(self, t: Tensor) -> Tensor:
        # The same cosine, written so that rounding leaves exactly 1 at t = 1: the last jump must commit everything.
        return 1.0 - torch.sin((1.0 - t) * (math.pi / 2))

    def derivative(self, t: Tensor) -> Tensor:
        return torch.sin(t * (math.pi / 2)) * (math.pi / 2)

    def inverse(self, share: Tensor) -> Tensor:
        return torch.acos(1.0 - share) * (2 / math.pi)


SCHEDULERS: dict[str, Scheduler] = {"linear": Linear(), "cosine": Cosine()}


# ---- path and velocities -------------------------------------------------------------------------


def delta(values: Tensor, value_count: int) -> Tensor:
    """delta_y(x) over all x: 1 at the value, 0 elsewhere; [..., V]."""
    return torch.nn.functional.one_hot(values, value_count).to(torch.get_default_dtype())


def conditional_path(t: Tensor, delta_x0_V: Tensor, delta_x1_V: Tensor, kappa: Scheduler) -> Tensor:
    """p_t(x^l | x_0, x_1) = (1 - kappa_t) delta_{x_0}(x^l) + kappa_t delta_{x_1}(x^l)."""
    share = kappa(t)[..., None]
    return (1.0 - share) * delta_x0_V + share * delta_x1_V


def rate(tau: Tensor, kappa: Scheduler) -> Tensor:
    """kappa'_tau / (1 - kappa_tau): the pace at which an undecided position commits."""
    _below_one(tau)
    return kappa.derivative(tau) / (1.0 - kappa(tau))


def velocity(tau: Tensor, p_V: Tensor, delta_z_V: Tensor, kappa: Scheduler) -> Tensor:
    """v_tau^l(x^l, z) = kappa'_tau / (1 - kappa_tau) [p(x^l) - delta_z(x^l)].

    p = delta_{x_1}: the conditional velocity v_tau^l(x^l, z | x_1), Eq. inst and Proposition 1.
    p = p_{1|tau}(. | z): the marginal velocity, by averaging the former over the posterior of x_1.
    """
    return rate(tau, kappa)[..., None] * (p_V - delta_z_V)


def lambda_rt(r: Tensor, t: Tensor, kappa: Scheduler) -> Tensor:
    """lambda_{r,t} = 1 / (t - r) ln((1 - kappa_r) / (1 - kappa_t)): the mean of ``rate`` over [r, t].

    It is infinite at t = 1; training and generation never need it, they use ``commit_probability``.
    """
    _below_one(t)
    if (t <= r).any():
        raise ValueError("lambda_{r,t} needs r < t")
    return _log_remaining_ratio(r, t, kappa) / (t - r)


def average_velocity(r: Tensor, t: Tensor, p_V: Tensor, delta_z_V: Tensor, kappa: Scheduler) -> Tensor:
    """vbar_{r,t}^l(x^l, z) = lambda_{r,t} [p(x^l) - delta_z(x^l)].

    p = delta_{x_1}: the conditional average velocity, Proposition 2.
    p = ``average_posterior``: the marginal average velocity, Proposition 3.
    """
    return lambda_rt(r, t, kappa)[..., None] * (p_V - delta_z_V)


def average_posterior(
    posterior: Callable[[Tensor], Tensor], r: Tensor, t: Tensor, kappa: Scheduler, points: int = 32
) -> Tensor:
    """pbar_{1|r,t}(x^l | z): the mean of p_{1|tau}(x^l | z) over [r, t], weighted by kappa' / (1 - kappa).

    With s = -ln(1 - kappa_tau) the weight is ds, so the weighted mean over tau is the plain mean over
    s, taken here by Gauss-Legendre quadrature; ``posterior`` is called with one time per point.

    From an all-mask start the exact posterior does not depend on tau: every x_1 that agrees with z has the
    same chance of having shown exactly z's positions. Then pbar is p_{1|tau} at any tau, and a network
    needs z but not r; only another source, or an inexact posterior, makes it vary.
    """
    _below_one(t)
    nodes, weights = np.polynomial.legendre.leggauss(points)
    total = torch.zeros(())
    for node, weight in zip(nodes, weights, strict=True):
        s_from_r = _log_remaining_ratio(r, t, kappa) * ((node + 1.0) / 2.0)
        tau = kappa.inverse(1.0 - (1.0 - kappa(r)) * torch.exp(-s_from_r))
        total = total + posterior(tau) * (weight / 2.0)
    return total


def _log_remaining_ratio(r: Tensor, t: Tensor, kappa: Scheduler) -> Tensor:
    """ln((1 - kappa_r) / (1 - kappa_t)), the integral of ``rate`` over [r, t]."""
    return torch.log((1.0 - kappa(r)) / (1.0 - kappa(t)))


def _below_one(t: Tensor) -> None:
    if (t >= 1).any():
        raise ValueError("the rate of a jump is infinite at t = 1: use commit_probability or jump, which are finite")


# ---- training: times and states ------------------------------------------------------------------


def sample_times(
    count: int, rho: float, generator: torch.Generator, device: torch.device | str = "cpu", ends_at_one: bool = True
) -> tuple[Tensor, Tensor]:
    """(r_B, t_B): r = 0 with probability rho, else uniform on (0, 1); t = 1, or uniform on (r, 1] if asked."""
    anchored_B, u_B, v_B = torch.rand(3, count, generator=generator, device=generator.device).to(device)
    r_B = torch.where(anchored_B < rho, 0.0, u_B)
    t_B = torch.ones_like(r_B) if ends_at_one else 1.0 - v_B * (1.0 - r_B)
    return r_B, t_B


def partial_state(
    tokens_BL: Tensor, r_B: Tensor, kappa: Scheduler, mask_token: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """(x_r, which positions are masked): each position holds its token with probability kappa_r."""
    u_BL = torch.rand(tokens_BL.shape, generator=generator, device=generator.device).to(tokens_BL.device)
    masked_BL = u_BL >= kappa(r_B)[:, None]
    return tokens_BL.masked_fill(masked_BL, mask_token), masked_BL


# ---- generation: jumps ---------------------------------------------------------------------------


def commit_probability(r: Tensor, t: Tensor, kappa: Scheduler) -> Tensor:
    """1 - exp(-(t - r) lambda_{r,t}) = (kappa_t - kappa_r) / (1 - kappa_r): 1 at t = 1, and finite."""
    return (kappa(t) - kappa(r)) / (1.0 - kappa(r))


def jump(r: Tensor, t: Tensor, p_V: Tensor, delta_z_V: Tensor, kappa: Scheduler) -> Tensor:
    """Next-state distribution over [r, t] at the average velocity: delta_z + commit probability * [p - delta_z]."""
    return delta_z_V + commit_probability(r, t, kappa)[..., None] * (p_V - delta_z_V)


def sampled_jump(
    x_BL: Tensor, logp_BLM: Tensor, committing: Tensor, mask_token: int, generator: torch.Generator
) -> Tensor:
    """A draw from ``jump``, position by position; what is committed stays."""
    u_BL = torch.rand(x_BL.shape, generator=generator, device=generator.device).to(x_BL.device)
    noise_BLM = torch.rand(logp_BLM.shape, generator=generator, device=generator.device).to(x_BL.device)
    # The largest of log p plus Gumbel noise is a draw from p.
    drawn_BL = (logp_BLM - torch.log(-torch.log(noise_BLM))).argmax(dim=-1)
    return torch.where((x_BL == mask_token) & (u_BL < committing), drawn_BL, x_BL)


def surest_jump(x_BL: Tensor, logp_BLM: Tensor, committed: int, mask_token: int) -> Tensor:
    """Likeliest tokens at the surest masked positions, until ``committed`` positions are decided."""
    best_BL, token_BL = logp_BLM.max(dim=-1)
    sureness_BL = best_BL.masked_fill(x_BL != mask_token, math.inf)
    order_BL = sureness_BL.argsort(dim=-1, descending=True, stable=True)
    chosen_BL = torch.zeros_like(x_BL, dtype=torch.bool).scatter(1, order_BL[:, :committed], True)
    return torch.where(chosen_BL & (x_BL == mask_token), token_BL, x_BL)


def decode(
    predict: Callable[[Tensor, Tensor], Tensor],
    x0_BL: Tensor,
    steps: int,
    kappa: Scheduler,
    mask_token: int,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """From the all-mask state to tokens in few jumps of the learned map; returns (tokens_BL, logp_BLM).

    ``predict(x_BL, r_B)`` answers log pbar_{1|r,1}(. | x), [B, L, M]. With a generator, positions and tokens
    are drawn from ``jump``. Without one, the surest positions commit first, as many as kappa says and at least
    one a step. Row l of the returned table is the answer from which position l was decided, so that codes can be
    scored as after one step; with one step it is simply ``predict(x0, 0)``.
    """
    length = x0_BL.shape[1]
    if steps < 1 or (generator is None and steps > length):
        raise ValueError(f"{length} positions are decoded in 1 to {length} steps, not {steps}")
    times = torch.linspace(0.0, 1.0, steps + 1, device=x0_BL.device)
    x_BL, table_BLM = x0_BL, None
    for step, (r, t) in enumerate(pairwise(times), start=1):
        logp_BLM = predict(x_BL, r.expand(len(x_BL)))
        table_BLM = logp_BLM if table_BLM is None else torch.where(x_BL[..., None] == mask_token, logp_BLM, table_BLM)
        if generator is None:
            planned = math.floor(length * float(kappa(t)) + 0.5)
            committed = min(max(planned, step), length - (steps - step))
            x_BL = surest_jump(x_BL, logp_BLM, committed, mask_token)
        else:
            x_BL = sampled_jump(x_BL, logp_BLM, commit_probability(r, t, kappa), mask_token, generator)
    assert table_BLM is not None
    return x_BL, table_BLM
