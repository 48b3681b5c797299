from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sprintrec.texts.cache import cache_folder, cached_vectors


class Encoder:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> np.ndarray:
        self.calls += 1
        return np.full((2, 3), self.calls, np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPRINTREC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_hit_does_not_encode_again(folder: Path) -> None:
    encoder = Encoder()
    first, second = (cached_vectors("minilm", ["a", "b"], encoder) for _ in range(2))
    assert encoder.calls == 1
    np.testing.assert_array_equal(first, second)
    assert not list(folder.rglob("*.draft"))


def test_other_texts_or_another_encoder_do(folder: Path) -> None:
    encoder = Encoder()
    for name, texts in [("minilm", ["a", "b"]), ("minilm", ["ab", ""]), ("minilm", ["b", "a"]), ("other", ["a", "b"])]:
        cached_vectors(name, texts, encoder)
    assert encoder.calls == 4


def test_a_damaged_file_is_made_again(folder: Path) -> None:
    encoder = Encoder()
    cached_vectors("minilm", ["a", "b"], encoder)
    kept = next(folder.rglob("*.npy"))
    kept.write_bytes(kept.read_bytes()[:-4])
    cached_vectors("minilm", ["a", "b"], encoder)
    cached_vectors("minilm", ["a", "b"], encoder)
    assert encoder.calls == 2


def test_a_cache_that_cannot_be_written_costs_time_only(folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    assert cached_vectors("minilm", ["a", "b"], Encoder()).shape == (2, 3)


def test_the_users_own_folder_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPRINTREC_CACHE", raising=False)
    assert cache_folder().name == "sprintrec"
