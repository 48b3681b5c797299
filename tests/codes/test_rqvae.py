from __future__ import annotations

import numpy as np
import torch

from sprintrec.codes import rqvae
from sprintrec.codes.assign import assign, project, reconstruct
from sprintrec.codes.unique import make_unique
from sprintrec.records import Codes

GENERATOR = np.random.default_rng(0)
VECTORS = (
    GENERATOR.standard_normal((30, 24))[GENERATOR.integers(0, 30, 600)] + 0.3 * GENERATOR.standard_normal((600, 24))
).astype(np.float32)
SETTINGS = rqvae.Settings(digits=3, tokens=16, hidden=(32,), width=8, batch=256, epochs=4)


def test_numpy_codes_are_those_of_the_network() -> None:
    torch.manual_seed(0)
    model = rqvae.RQVAE(24, 16, SETTINGS)
    torch.nn.init.normal_(model.levels_LMD)
    units = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    mean, scale = units.mean(axis=0), np.float32(3.0)
    arrays = rqvae._arrays(model, mean, scale)
    with torch.no_grad():
        latents = model.encoder(torch.from_numpy((units - mean) * scale))
        left, tokens = latents, []
        for level in model.levels_LMD:
            tokens.append(torch.cdist(left, level).argmin(dim=1))
            left = left - level[tokens[-1]]
    np.testing.assert_allclose(project(arrays, VECTORS), latents.numpy(), atol=1e-5)
    np.testing.assert_array_equal(assign(arrays, VECTORS), torch.stack(tokens, dim=1).numpy())
    np.testing.assert_allclose(reconstruct(arrays, assign(arrays, VECTORS)), (latents - left).numpy(), atol=1e-5)


def test_the_loss_by_hand() -> None:
    # No hidden layer, encoder and decoder the identity on one number, tokens 1 and 3, then 0 and 0.5.
    model = rqvae.RQVAE(1, 2, rqvae.Settings(digits=2, tokens=2, hidden=(), width=1))
    with torch.no_grad():
        for layer in (model.encoder[0], model.decoder[0]):
            layer.weight.fill_(1.0)
            layer.bias.zero_()
        model.levels_LMD.copy_(torch.tensor([[[1.0], [3.0]], [[0.0], [0.5]]]))
    # 1.4 takes 1, leaves 0.4, takes 0.5: misses 0.1 in the end, 0.4 and 0.1 on the way.
    loss = model(torch.tensor([[1.4]]))
    expected = 0.1**2 + (1.25 * 0.4**2 + 1.25 * 0.1**2) / 2
    torch.testing.assert_close(loss.item(), expected, atol=1e-6, rtol=0)
    loss.backward()
    # Through the decoder as if nothing were quantized: 2 (1.5 - 1.4), and the commitment of both levels.
    gradient = 2 * 0.1 + 0.25 * (2 * 0.4 + 2 * -0.1) / 2
    torch.testing.assert_close(model.encoder[0].bias.grad.item(), gradient, atol=1e-6, rtol=0)


def test_it_learns_and_repeats() -> None:
    steps: list[tuple[int, int]] = []
    train = np.arange(500)
    arrays = rqvae.fit(VECTORS, train, SETTINGS, 1, lambda done, total: steps.append((done, total)))
    again = rqvae.fit(VECTORS, train, SETTINGS, 1)
    for name in arrays:
        np.testing.assert_array_equal(arrays[name], again[name])
    assert steps[-1] == (4, 4)
    table = assign(arrays, VECTORS)
    assert len(np.unique(table, axis=0)) > 30
    unique = make_unique(Codes("rqvae", table, (16,) * 3, arrays), VECTORS)
    assert len(unique.distinct()[0]) == 600


def test_seeding_leaves_the_callers_chance_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    rqvae.fit(VECTORS[:50], np.arange(50), rqvae.Settings(epochs=1))
    torch.testing.assert_close(torch.rand(3), expected)
