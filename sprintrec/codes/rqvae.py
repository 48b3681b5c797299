"""RQ-VAE: residual quantization of what an encoder makes of a vector, trained so that it can be decoded again.

TIGER's tokenizer (Rajput et al. 2023) at the size of the paper's ablation, which names no settings: MLP
512-256-128 to 32 numbers, four levels of 256, commitment 0.25, AdamW 1e-3, batches of 2,048, levels started
by k-means, no fourth digit against collisions. As nothing revives tokens that fell out of use, the state
with the most distinct codes of training items is kept, and not the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sprintrec.codes.assign import assign
from sprintrec.codes.points import check_size, tokens_for, training_points
from sprintrec.codes.rqkmeans import levels_of

Progress = Callable[[int, int], None]

KMEANS_ITERATIONS = 20
LOOKED_AT_EVERY = 10  # epochs between two counts of distinct codes


@dataclass(frozen=True)
class Settings:
    digits: int = 4
    tokens: int = 256  # per digit
    hidden: tuple[int, ...] = (512, 256, 128)  # widths of the encoder's layers; the decoder mirrors them
    width: int = 32  # of what is quantized
    commitment: float = 0.25
    rate: float = 1e-3
    decay: float = 1e-4
    batch: int = 2048
    epochs: int = 500


class RQVAE(nn.Module):
    """Shapes: B vectors, D numbers of a latent, L levels of M tokens."""

    def __init__(self, dimensions: int, tokens: int, settings: Settings) -> None:
        super().__init__()
        widths = (dimensions, *settings.hidden, settings.width)
        self.encoder, self.decoder = _mlp(widths), _mlp(widths[::-1])
        self.levels_LMD = nn.Parameter(torch.zeros(settings.digits, tokens, settings.width))
        self.commitment = settings.commitment

    def forward(self, points: Tensor) -> Tensor:
        """The loss: mean square of what decoding misses, and per level of what quantizing misses."""
        left_BD = latent_BD = self.encoder(points)
        quantized_BD, quantizing = torch.zeros_like(latent_BD), torch.zeros((), device=points.device)
        for tokens_MD in self.levels_LMD:
            nearest_BD = tokens_MD[torch.cdist(left_BD.detach(), tokens_MD.detach()).argmin(dim=1)]
            quantizing = quantizing + F.mse_loss(nearest_BD, left_BD.detach())
            quantizing = quantizing + self.commitment * F.mse_loss(left_BD, nearest_BD.detach())
            quantized_BD = quantized_BD + nearest_BD
            left_BD = left_BD - nearest_BD.detach()
        # The gradient of the decoder passes the quantizer as if it were not there.
        decoded = self.decoder(latent_BD + (quantized_BD - latent_BD).detach())
        return F.mse_loss(decoded, points) + quantizing / len(self.levels_LMD)


def fit(
    vectors: np.ndarray, train_items: np.ndarray, settings: Settings, seed: int = 0, progress: Progress | None = None
) -> dict[str, np.ndarray]:
    """The tokenizer's arrays, for ``codes/assign.py``."""
    check_size(settings.digits, settings.tokens)
    points = training_points(vectors, train_items, np.random.default_rng(seed))
    tokens = tokens_for(settings.tokens, settings.digits, len(points), len(vectors))
    # Numbers of a unit vector are tiny beside those of a latent: at one scale neither loss drowns the other.
    mean = points.mean(axis=0)
    scale = np.float32(1 / max(float((points - mean).std()), 1e-12))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = RQVAE(points.shape[1], tokens, settings).to(device)
        return _train(model, points, mean, scale, settings, seed, progress)


def _train(
    model: RQVAE,
    points: np.ndarray,
    mean: np.ndarray,
    scale: np.float32,
    settings: Settings,
    seed: int,
    progress: Progress | None,
) -> dict[str, np.ndarray]:
    """The arrays of the epoch with the most distinct codes."""
    inputs = torch.from_numpy((points - mean) * scale).to(model.levels_LMD.device)
    with torch.no_grad():
        latents = model.encoder(inputs).cpu().numpy()
        levels = levels_of(latents, settings.digits, model.levels_LMD.shape[1], KMEANS_ITERATIONS, seed)
        model.levels_LMD.copy_(torch.from_numpy(levels))
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.decay)
    best, most = _arrays(model, mean, scale), 0
    for epoch in range(1, settings.epochs + 1):
        for rows in torch.randperm(len(inputs)).split(settings.batch):
            optimizer.zero_grad()
            model(inputs[rows]).backward()
            optimizer.step()
        if epoch % LOOKED_AT_EVERY == 0 or epoch == settings.epochs:
            arrays = _arrays(model, mean, scale)
            distinct = len(np.unique(assign(arrays, points), axis=0))
            if distinct > most:
                best, most = arrays, distinct
        if progress:
            progress(epoch, settings.epochs)
    return best


def _arrays(model: RQVAE, mean: np.ndarray, scale: np.float32) -> dict[str, np.ndarray]:
    """Encoder and levels as plain arrays; centring and scaling of the input go into the first layer."""
    arrays = {"levels": model.levels_LMD.detach().cpu().numpy().copy()}
    linear = [layer for layer in model.encoder if isinstance(layer, nn.Linear)]
    for number, layer in enumerate(linear):
        weight, bias = (part.detach().cpu().numpy().copy() for part in (layer.weight.T, layer.bias))
        if number == 0:
            weight = weight * scale
            bias = bias - mean @ weight
        arrays[f"layers.{number}.weight"], arrays[f"layers.{number}.bias"] = weight, bias
    return arrays


def _mlp(widths: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in zip(widths, widths[1:], strict=False):
        layers += [nn.ReLU(), nn.Linear(before, after)]
    return nn.Sequential(*layers[1:])
