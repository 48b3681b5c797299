"""With a made library in place of sentence-transformers: what is tested is how it is asked."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.texts import named_encoder


class Model:
    asked: list[tuple[str, bool]]

    def __init__(self, name: str, local_files_only: bool = False) -> None:
        Model.asked.append((name, local_files_only))
        if local_files_only and name != "org/here":
            raise OSError("not in the cache\nmore lines")

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        assert options["normalize_embeddings"]
        return np.array([[len(text), 1] for text in texts], np.float64)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    def model_info(name: str, timeout: float) -> None:
        if name.startswith("no/"):
            raise OSError("Name or service not known")

    Model.asked = []
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(model_info=model_info))
    return SimpleNamespace(asked=Model.asked)


def test_vectors_stand_where_their_texts_do(hub: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_encoder, "BATCH", 2)
    steps: list[tuple[int, int]] = []
    texts = ["abc", "a", "abcde", "", "ab"]
    found = named_encoder.encode("org/here", texts, lambda done, total: steps.append((done, total)))
    assert found.dtype == np.float32
    assert found[:, 0].tolist() == [3, 1, 5, 0, 2]
    assert steps == [(2, 5), (4, 5), (5, 5)]
    assert hub.asked == [("org/here", True)]


def test_what_is_not_here_is_fetched(hub: SimpleNamespace) -> None:
    named_encoder.encode("sentence-t5-base", ["a"])
    name = "sentence-transformers/sentence-t5-base"
    assert hub.asked == [(name, True), (name, False)]


def test_offline_is_one_sentence(hub: SimpleNamespace) -> None:
    with pytest.raises(Mistake, match=r"'no/such' is not on this machine and could not be fetched \(Name or service"):
        named_encoder.encode("no/such", ["a"])
    assert hub.asked == [("no/such", True)]


def test_a_folder_is_never_looked_for_elsewhere(hub: SimpleNamespace, tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=r"holds no encoder .*\(not in the cache\)"):
        named_encoder.encode(str(tmp_path), ["a"])
    assert hub.asked == [(str(tmp_path), True)]


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(Mistake, match=r"pip install 'sprintrec\[text\]'"):
        named_encoder.encode("org/here", ["a"])


def test_a_folder_that_changed_is_another_encoder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    before = named_encoder.identity(str(tmp_path))
    assert before == named_encoder.identity(str(tmp_path))
    (tmp_path / "model.safetensors").write_text("weights")
    assert before != named_encoder.identity(str(tmp_path))
    assert named_encoder.identity("org/name") == "org/name"
