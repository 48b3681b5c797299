"""Attention, feed-forward and norms for short sequences; every method's network is built of these.

Histories have 20 to 50 slots and codes 4 to 16 digits. Library attention kernels work in tiles of 64
and spend most of their time on padding there, so attention is written as plain batched products.

B batch, Q queries, K keys, D width, H heads, F feed-forward width.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BLOCKED = -1e9  # added to an attention score: finite, so a row without any key stays a number


class Attention(nn.Module):
    """Scaled dot-product attention over a memory. Without ``project_memory`` the memory itself is key and value."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0, project_memory: bool = True) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is no multiple of {heads} heads")
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.memory = nn.Linear(width, 2 * width, bias=False) if project_memory else None
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BQD: Tensor, memory_BKD: Tensor, bias: Tensor) -> Tensor:
        """``bias`` broadcasts to (B, H, Q, K) and is added to the scores: 0 or BLOCKED."""
        query_BHQE = self._split(self.query(x_BQD))
        if self.memory is None:
            key_BHKE = value_BHKE = self._split(memory_BKD)
        else:
            key_BHKE, value_BHKE = map(self._split, self.memory(memory_BKD).chunk(2, dim=-1))
        scores_BHQK = query_BHQE @ key_BHKE.transpose(-1, -2) / math.sqrt(query_BHQE.shape[-1])
        weights_BHQK = (scores_BHQK + bias).softmax(dim=-1)
        mixed_BQD = (self.dropout(weights_BHQK) @ value_BHKE).transpose(1, 2).flatten(2)
        return self.out(mixed_BQD)

    def _split(self, x_BND: Tensor) -> Tensor:
        return x_BND.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """Two linear maps with GELU between them."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x_BND: Tensor) -> Tensor:
        return self.down(F.gelu(self.up(x_BND)))


class Block(nn.Module):
    """Pre-norm: self-attention, cross-attention where there is a memory, feed-forward; each added to its input."""

    def __init__(
        self, width: int, inner: int, heads: int, dropout: float, crosses: bool = False, project_memory: bool = False
    ) -> None:
        super().__init__()
        self.self_norm, self.self_attention = _norm(width), Attention(width, heads)
        self.cross_norm = _norm(width) if crosses else None
        self.cross_attention = Attention(width, heads, project_memory=project_memory) if crosses else None
        self.inner_norm, self.inner = _norm(width), FeedForward(width, inner)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x_BND: Tensor, bias: Tensor, memory_BKD: Tensor | None = None, memory_bias: Tensor | None = None
    ) -> Tensor:
        normed = self.self_norm(x_BND)
        x_BND = x_BND + self.dropout(self.self_attention(normed, normed, bias))
        if self.cross_attention is not None and self.cross_norm is not None:
            assert memory_BKD is not None and memory_bias is not None
            x_BND = x_BND + self.dropout(self.cross_attention(self.cross_norm(x_BND), memory_BKD, memory_bias))
        return x_BND + self.dropout(self.inner(self.inner_norm(x_BND)))


class FilterBlock(nn.Module):
    """Post-norm: self-attention mixed with a frequency filter over the slots, then feed-forward.

    The filter keeps the slow part of a history and learns per channel how much of the fast part to
    add; ``mix`` 0 leaves a plain post-norm Transformer block.
    """

    def __init__(self, width: int, inner: int, heads: int, dropout: float, mix: float, kept: int) -> None:
        super().__init__()
        self.mix, self.kept = mix, kept
        self.attention, self.attention_norm = Attention(width, heads, dropout), nn.LayerNorm(width, eps=1e-12)
        self.inner, self.inner_norm = FeedForward(width, inner), nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(dropout)
        if mix:
            self.fast = nn.Parameter(torch.randn(width))
            self.filter_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x_BTD: Tensor, bias: Tensor, newest: int | None = None) -> Tensor:
        """All slots, or only the ``newest``: whoever reads no others need not pay for them in the last block."""
        asked = slice(None) if newest is None else slice(-newest, None)
        own_BTD = x_BTD[:, asked]
        mixed = self.attention_norm(own_BTD + self.dropout(self.attention(own_BTD, x_BTD, bias[:, :, asked])))
        if self.mix:
            filtered = self.filter_norm(own_BTD + self.dropout(self._filter(x_BTD, asked)))
            mixed = self.mix * filtered + (1 - self.mix) * mixed
        return self.inner_norm(mixed + self.dropout(self.inner(mixed)))

    def _filter(self, x_BTD: Tensor, asked: slice) -> Tensor:
        # A low-pass filter is linear: as a (T x T) matrix it is one product instead of two transforms.
        slow_TT = low_pass(x_BTD.shape[1], self.kept, x_BTD.device, x_BTD.dtype)
        slow_BTD = slow_TT[asked] @ x_BTD
        return slow_BTD + self.fast.square() * (x_BTD[:, asked] - slow_BTD)


_LOW_PASS: dict[tuple[int, int, torch.device, torch.dtype], Tensor] = {}


def low_pass(slots: int, kept: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """The matrix that keeps the ``kept`` lowest frequencies of a real signal over the slots."""
    key = (slots, kept, device, dtype)
    if key not in _LOW_PASS:
        spectrum = torch.fft.rfft(torch.eye(slots, dtype=torch.float64), dim=0, norm="ortho")
        spectrum[kept:] = 0
        _LOW_PASS[key] = torch.fft.irfft(spectrum, n=slots, dim=0, norm="ortho").to(device, dtype)
    return _LOW_PASS[key]


def key_bias(known_BK: Tensor) -> Tensor:
    """The attention bias that hides unknown keys, (B, 1, 1, K)."""
    return torch.zeros_like(known_BK, dtype=torch.float32).masked_fill(~known_BK, BLOCKED)[:, None, None, :]


def causal_bias(slots: int, device: torch.device) -> Tensor:
    """The attention bias that hides later slots, (1, 1, T, T)."""
    later = torch.ones(slots, slots, dtype=torch.bool, device=device).triu(1)
    return torch.zeros(slots, slots, device=device).masked_fill(later, BLOCKED)[None, None]


def start_normal(module: nn.Module, deviation: float = 0.02) -> None:
    """N(0, 0.02) for every linear map and embedding, zero for biases."""
    for part in module.modules():
        if isinstance(part, (nn.Linear, nn.Embedding)):
            nn.init.normal_(part.weight, std=deviation)
            if isinstance(part, nn.Linear) and part.bias is not None:
                nn.init.zeros_(part.bias)


def _norm(width: int) -> nn.RMSNorm:
    return nn.RMSNorm(width, eps=1e-5)
