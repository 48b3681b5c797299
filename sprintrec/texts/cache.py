"""Vectors that were made once, kept in the user's cache folder under a hash of what they were made of.

``SPRINTREC_CACHE`` names another folder. A cache that can't be written costs time, never the work.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from platformdirs import user_cache_path

from sprintrec.records import content_hash


def cache_folder() -> Path:
    return Path(os.environ.get("SPRINTREC_CACHE") or user_cache_path("sprintrec", appauthor=False))


def cached_vectors(encoder: str, texts: Sequence[str], encode: Callable[[], np.ndarray]) -> np.ndarray:
    """What ``encode`` gives for these texts, from the cache where an encoder of this name gave it before."""
    path = cache_folder() / "vectors" / f"{content_hash(encoder, *texts)}.npy"
    try:
        found = np.load(path, allow_pickle=False)
        if found.shape[0] == len(texts):
            return found
    except (OSError, ValueError, EOFError):
        pass  # not there, or cut short: made again
    vectors = encode()
    _keep(path, vectors)
    return vectors


def _keep(path: Path, vectors: np.ndarray) -> None:
    draft = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".draft", delete=False) as file:
            draft = Path(file.name)
            np.save(file, vectors)
        os.replace(draft, path)
    except OSError:
        if draft is not None:
            draft.unlink(missing_ok=True)
