"""Checkpoints are whole or not there, and one that is not ours is refused in one sentence."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from sprintrec.checkpoints import read_checkpoint, under, write_checkpoint
from sprintrec.errors import Mistake, WorkFailed

CPU = torch.device("cpu")
TENSORS = {"network.a": torch.arange(6.0).view(2, 3), "network.b": torch.tensor(3), "random": torch.zeros(4).byte()}


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Files may not grow beyond a size: what writes meets the same error as on a full disk, and needs no root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "checkpoint.safetensors"


def test_everything_comes_back(path: Path) -> None:
    write_checkpoint(path, TENSORS, {"progress": {"epoch": 3, "best_score": float("-inf")}})
    tensors, about = read_checkpoint(path, CPU)
    assert about == {"progress": {"epoch": 3, "best_score": float("-inf")}}
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name], tensor)


def test_views_are_written_as_they_look(path: Path) -> None:
    whole = torch.arange(12.0).view(3, 4)
    write_checkpoint(path, {"turned": whole.T, "part": whole[1:, :2]}, {})
    tensors, _ = read_checkpoint(path, CPU)
    assert torch.equal(tensors["turned"], whole.T)
    assert torch.equal(tensors["part"], whole[1:, :2])


def test_a_part_is_found_by_the_beginning_of_its_names() -> None:
    assert under(TENSORS, "network.").keys() == {"a", "b"}


def test_a_full_disk_leaves_the_one_before(path: Path) -> None:
    write_checkpoint(path, TENSORS, {"epoch": 1})
    with room_for(50_000), pytest.raises(WorkFailed, match=r"could not be written.*make room; the one before is kept"):
        write_checkpoint(path, {"large": torch.zeros(100_000)}, {"epoch": 2})
    assert read_checkpoint(path, CPU)[1] == {"epoch": 1}
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_full_disk_at_the_first_one_keeps_nothing(path: Path) -> None:
    with room_for(50_000), pytest.raises(WorkFailed, match="nothing was kept"):
        write_checkpoint(path, {"large": torch.zeros(100_000)}, {})
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_is_gone_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WorkFailed, match="could not be written"):
        write_checkpoint(tmp_path / "gone" / "checkpoint.safetensors", TENSORS, {})


def test_a_damaged_checkpoint_is_a_mistake(path: Path) -> None:
    write_checkpoint(path, TENSORS, {"epoch": 1})
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:4], b"", bytes(100), whole[:20] + b"?" + whole[21:]):
        path.write_bytes(damaged)
        with pytest.raises(Mistake, match=r"no whole checkpoint of ours.*remove it"):
            read_checkpoint(path, CPU)


def test_a_foreign_file_is_a_mistake(path: Path) -> None:
    for foreign in (None, {"about": "not json"}, {"made by": "another"}):
        save_file({"weight": torch.zeros(2)}, path, foreign)
        with pytest.raises(Mistake, match="no whole checkpoint of ours"):
            read_checkpoint(path, CPU)
    np.save(path.with_suffix(".npy"), np.zeros(3))
    path.with_suffix(".npy").rename(path)
    with pytest.raises(Mistake, match="no whole checkpoint of ours"):
        read_checkpoint(path, CPU)
