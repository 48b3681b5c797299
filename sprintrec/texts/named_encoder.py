"""Any encoder that sentence-transformers loads, by its name on the Hugging Face hub or from a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sprintrec.errors import Mistake
from sprintrec.records import content_hash

BATCH = 64
HUB_ANSWERS_WITHIN = 10.0  # seconds

Progress = Callable[[int, int], None]


def identity(name: str) -> str:
    """A name that changes where a folder's files do."""
    folder = Path(name)
    if not folder.is_dir():
        return name
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stamps = [f"{path.relative_to(folder)} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files]
    return f"{folder.name}@{content_hash(*stamps)}"


def encode(name: str, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
    """Unit vectors of texts, float32 [texts, d]."""
    model = _loaded(name)
    # Longest first: a batch is padded to its longest text, and too little memory shows at once.
    order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
    batches = []
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        batches.append(model.encode([texts[row] for row in rows], batch_size=BATCH, normalize_embeddings=True))
        if progress:
            progress(start + len(rows), len(texts))
    vectors = np.concatenate(batches).astype(np.float32)
    return vectors[np.argsort(order)]


def _loaded(name: str) -> Any:
    try:
        from huggingface_hub import model_info
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise Mistake(f"encoder '{name}' needs sentence-transformers: type pip install 'sprintrec[text]'") from error
    is_folder = Path(name).is_dir()
    name = name if "/" in name or is_folder else f"sentence-transformers/{name}"
    # The libraries raise whatever the network, the hub or a file gave them, so everything is caught.
    try:
        return SentenceTransformer(name, local_files_only=True)
    except Exception as error:
        if is_folder:
            raise Mistake(
                f"folder {name} holds no encoder that sentence-transformers can load ({_line(error)})"
            ) from error
    try:
        # Asked first because loading would try for over a minute where there is no network.
        model_info(name, timeout=HUB_ANSWERS_WITHIN)
        return SentenceTransformer(name)
    except Exception as error:
        raise Mistake(
            f"encoder '{name}' is not on this machine and could not be fetched ({_line(error)}): "
            "check its name and the network, or give the folder of one that was downloaded"
        ) from error


def _line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__
