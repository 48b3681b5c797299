"""A checkpoint: named tensors and a JSON description in one safetensors file, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sprintrec.errors import Mistake, WorkFailed


def write_checkpoint(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write beside the checkpoint of before, and take its place only when all of it is on the disk."""
    draft = path.with_suffix(".draft")
    try:
        plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(plain, draft, {"about": json.dumps(about)})
        with open(draft, "rb") as written:
            os.fsync(written.fileno())
        os.replace(draft, path)
    except (OSError, SafetensorError) as error:  # safetensors reports a full disk as an error of its own
        draft.unlink(missing_ok=True)
        kept = "the one before is kept" if path.is_file() else "nothing was kept"
        raise WorkFailed(f"the checkpoint {path} could not be written ({error}): make room; {kept}") from error


def read_checkpoint(path: Path, device: torch.device) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors, on the device, and the description."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            about = json.loads(file.metadata()["about"])
            return {name: file.get_tensor(name).to(device) for name in file.keys()}, about
    except (OSError, SafetensorError, TypeError, KeyError, ValueError) as error:
        raise Mistake(f"{path} is no whole checkpoint of ours ({error}): remove it to start anew") from error


def under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with the prefix, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
