"""Attention, blocks and filters against loops and formulas written out."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sprintrec.blocks import (
    BLOCKED,
    Attention,
    Block,
    FeedForward,
    FilterBlock,
    causal_bias,
    key_bias,
    low_pass,
    start_normal,
)

WIDTH, HEADS, INNER = 6, 2, 10


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def looped_attention(attention: Attention, x_BQD: Tensor, memory_BKD: Tensor, bias_BHQK: Tensor) -> Tensor:
    """Row by row, query by query, head by head, key by key."""
    size = WIDTH // HEADS
    out = torch.zeros_like(x_BQD)
    for b in range(len(x_BQD)):
        keys_KD = values_KD = memory_BKD[b]
        if attention.memory is not None:
            keys_KD, values_KD = (memory_BKD[b] @ half.T for half in attention.memory.weight.chunk(2))
        for q in range(x_BQD.shape[1]):
            query_D, heads = (attention.query.weight @ x_BQD[b, q]).detach(), []
            for h in range(HEADS):
                part = slice(h * size, (h + 1) * size)
                scores = [float(query_D[part] @ key[part].detach()) / math.sqrt(size) for key in keys_KD]
                powers = [math.exp(score + float(bias_BHQK[b, h, q, k])) for k, score in enumerate(scores)]
                heads.append(sum(p * value[part] for p, value in zip(powers, values_KD, strict=True)) / sum(powers))
            out[b, q] = attention.out.weight @ torch.cat(heads) + attention.out.bias
    return out


@pytest.mark.parametrize("project_memory", [True, False])
def test_attention_equals_a_triple_loop(project_memory: bool) -> None:
    attention = Attention(WIDTH, HEADS, project_memory=project_memory).double()
    x_BQD, memory_BKD = normal(2, 3, WIDTH), normal(2, 4, WIDTH)
    bias_BHQK = torch.where(torch.rand(2, HEADS, 3, 4) < 0.3, BLOCKED, 0.0).double()
    bias_BHQK[..., 0] = 0.0
    expected = looped_attention(attention, x_BQD, memory_BKD, bias_BHQK)
    torch.testing.assert_close(attention(x_BQD, memory_BKD, bias_BHQK), expected)


def test_memory_without_a_projection_has_no_weights_for_it() -> None:
    with_, without = (sum(p.numel() for p in Attention(WIDTH, HEADS, 0.0, project).parameters()) for project in (1, 0))
    assert with_ - without == 2 * WIDTH * WIDTH


def test_heads_must_share_the_width() -> None:
    with pytest.raises(ValueError, match="width 6 is no multiple of 4 heads"):
        Attention(6, 4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_row_without_any_key_stays_a_number(dtype: torch.dtype) -> None:
    attention = Attention(WIDTH, HEADS).to(dtype)
    x_BQD = torch.randn(1, 3, WIDTH, dtype=dtype, requires_grad=True)
    attention(x_BQD, x_BQD, key_bias(torch.zeros(1, 3, dtype=torch.bool)).to(dtype)).sum().backward()
    assert x_BQD.grad is not None
    assert torch.isfinite(x_BQD.grad).all()


def test_hidden_keys_change_nothing() -> None:
    attention = Attention(WIDTH, HEADS)
    x_BQD, memory_BKD = torch.randn(2, 3, WIDTH), torch.randn(2, 5, WIDTH)
    known_BK = torch.tensor([[True, True, False, True, False], [False, True, True, True, True]])
    other_BKD = torch.where(known_BK[..., None], memory_BKD, 100 * torch.randn(2, 5, WIDTH))
    bias = key_bias(known_BK)
    assert bias.shape == (2, 1, 1, 5)
    torch.testing.assert_close(attention(x_BQD, other_BKD, bias), attention(x_BQD, memory_BKD, bias), rtol=0, atol=0)


def test_causal_bias_hides_what_comes_later() -> None:
    assert (causal_bias(3, torch.device("cpu"))[0, 0] == BLOCKED).tolist() == [
        [False, True, True],
        [False, False, True],
        [False, False, False],
    ]


def rms(x_BND: Tensor, weight_D: Tensor) -> Tensor:
    return x_BND / (x_BND.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt() * weight_D


def varied(module: nn.Module) -> nn.Module:
    """All weights away from their special starting values, in double precision, without dropout."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double().eval()


def test_feed_forward_is_two_maps_with_gelu_between() -> None:
    layer, x = varied(FeedForward(WIDTH, INNER)), normal(2, 3, WIDTH)
    inner = x @ layer.up.weight.T + layer.up.bias
    gelu = inner * (1 + torch.erf(inner / math.sqrt(2))) / 2
    torch.testing.assert_close(layer(x), gelu @ layer.down.weight.T + layer.down.bias)


@pytest.mark.parametrize("project_memory", [True, False])
def test_a_block_adds_each_part_to_its_input(project_memory: bool) -> None:
    block = varied(Block(WIDTH, INNER, HEADS, 0.3, crosses=True, project_memory=project_memory))
    x, memory, bias, memory_bias = normal(2, 3, WIDTH), normal(2, 4, WIDTH), normal(1, 1, 3, 3), normal(2, 1, 1, 4)
    found = block(x, bias, memory, memory_bias)
    normed = rms(x, block.self_norm.weight)
    x = x + block.self_attention(normed, normed, bias)
    x = x + block.cross_attention(rms(x, block.cross_norm.weight), memory, memory_bias)
    torch.testing.assert_close(found, x + block.inner(rms(x, block.inner_norm.weight)))


def test_a_block_without_memory_has_no_cross_attention() -> None:
    block = varied(Block(WIDTH, INNER, HEADS, 0.3))
    x, bias = normal(2, 3, WIDTH), normal(1, 1, 3, 3)
    normed = rms(x, block.self_norm.weight)
    after = x + block.self_attention(normed, normed, bias)
    torch.testing.assert_close(block(x, bias), after + block.inner(rms(after, block.inner_norm.weight)))


def lowest(x_BTD: Tensor, kept: int) -> Tensor:
    spectrum = torch.fft.rfft(x_BTD, dim=1)
    spectrum[:, kept:] = 0
    return torch.fft.irfft(spectrum, n=x_BTD.shape[1], dim=1)


@pytest.mark.parametrize("slots", [1, 2, 7, 8])
@pytest.mark.parametrize("kept", [0, 1, 3, 9])
def test_low_pass_is_the_fourier_transform_cut_off(slots: int, kept: int) -> None:
    x_BTD = normal(2, slots, WIDTH)
    matrix = low_pass(slots, kept, torch.device("cpu"), torch.float64)
    torch.testing.assert_close(matrix @ x_BTD, lowest(x_BTD, kept))


def test_low_pass_comes_in_the_precision_asked_for() -> None:
    for dtype in (torch.float32, torch.float64, torch.float32):
        assert low_pass(5, 2, torch.device("cpu"), dtype).dtype == dtype


@pytest.mark.parametrize("mix", [0.0, 0.7, 1.0])
def test_a_filter_block_mixes_the_slow_part_with_attention(mix: float) -> None:
    block = varied(FilterBlock(WIDTH, INNER, HEADS, 0.3, mix, kept=2))
    x, bias = normal(2, 5, WIDTH), causal_bias(5, torch.device("cpu"))
    mixed = normed(x + block.attention(x, x, bias), block.attention_norm)
    if mix:
        slow = lowest(x, 2)
        filtered = normed(x + slow + block.fast**2 * (x - slow), block.filter_norm)
        mixed = mix * filtered + (1 - mix) * mixed
    torch.testing.assert_close(block(x, bias), normed(mixed + block.inner(mixed), block.inner_norm))


def normed(x_BTD: Tensor, norm: nn.LayerNorm) -> Tensor:
    return F.layer_norm(x_BTD, (WIDTH,), norm.weight, norm.bias, eps=1e-12)


def test_without_a_share_there_is_no_filter_to_learn() -> None:
    plain, mixed = (dict(FilterBlock(WIDTH, INNER, HEADS, 0.0, mix, 2).named_parameters()) for mix in (0.0, 0.5))
    assert mixed.keys() - plain.keys() == {"fast", "filter_norm.weight", "filter_norm.bias"}


def test_start_normal_draws_weights_and_clears_biases() -> None:
    module = nn.Sequential(nn.Linear(200, 100), nn.Embedding(100, 200), nn.LayerNorm(4))
    start_normal(module)
    assert module[0].weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert module[1].weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert not module[0].bias.any()
    assert (module[2].weight == 1).all()
