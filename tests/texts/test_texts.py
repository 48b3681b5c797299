from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Histories, Items, content_hash
from sprintrec.texts import minilm, named_encoder, new_item_vectors, vectors_for

EVENTS = Histories.of([[0, 1, 0, 1], [2, 3, 2], [0, 1], [3, 2, 3]])
TITLED = Items(list("abcd"), [{"title": "red shoe"}, {"title": "blue shoe"}, {"title": ""}, {"title": "cake"}])
BARE = Items(list("abcd"), [{}, {}, {}, {"title": "cake"}])


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPRINTREC_CACHE", str(tmp_path / "cache"))


def test_auto_takes_text_where_enough_items_have_it() -> None:
    vectors, about = vectors_for(TITLED, events=EVENTS)
    assert vectors.shape == (4, minilm.DIMENSIONS)
    assert not vectors[2].any()
    assert about["encoder"] == "minilm"
    assert about["note"] == "Item texts encoded by minilm; 1 of 4 items have no text."
    assert about["hash"] == content_hash(vectors.astype(np.float16))
    json.dumps(about)


def test_auto_takes_cooccurrence_where_they_do_not() -> None:
    vectors, about = vectors_for(BARE, events=EVENTS)
    assert about["encoder"] == "cooccurrence"
    assert about["note"].startswith("Only 25% of the items have text, so vectors come from what is used together.")
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.5


def test_no_text_and_no_events_is_a_mistake() -> None:
    with pytest.raises(Mistake, match="need the training events"):
        vectors_for(BARE)
    with pytest.raises(Mistake, match="no item has text"):
        vectors_for(Items(["a"], [{}]), "minilm")


def test_text_and_cooccurrence_side_by_side() -> None:
    text, together = vectors_for(TITLED, "minilm")[0], vectors_for(TITLED, "cooccurrence", EVENTS)[0]
    joined, about = vectors_for(TITLED, "text+cooccurrence", EVENTS)
    assert joined.shape == (4, text.shape[1] + together.shape[1])
    expected = (text @ text.T + together @ together.T) / 2
    np.testing.assert_allclose(joined @ joined.T, expected, atol=1e-6)
    assert (about["encoder"], about["dimensions"]) == ("minilm+cooccurrence", joined.shape[1])


def test_encoding_twice_takes_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = vectors_for(TITLED, "minilm")
    monkeypatch.setattr(minilm, "encode", lambda *_: pytest.fail("encoded again"))
    np.testing.assert_array_equal(vectors_for(TITLED, "minilm")[0], first)


def test_an_encoder_by_name_and_by_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def encode(name: str, texts: list[str], progress: object) -> np.ndarray:
        asked.append((name, texts))
        return np.ones((len(texts), 5), np.float32)

    monkeypatch.setattr(named_encoder, "encode", encode)
    assert vectors_for(TITLED, "sentence-transformers:org/name")[1]["encoder"] == "sentence-transformers:org/name"
    vectors, about = vectors_for(TITLED, str(tmp_path))
    assert about["encoder"] == f"sentence-transformers:{tmp_path}"
    assert vectors.any(axis=1).tolist() == [True, True, False, True]
    assert asked == [(name, ["red shoe.", "blue shoe.", "cake."]) for name in ("org/name", str(tmp_path))]


def test_own_vectors_by_file(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(4, 3))
    vectors, about = vectors_for(TITLED, str(tmp_path / "v.npy"))
    np.testing.assert_array_equal(vectors, np.eye(4, 3))
    assert about["encoder"] == "own:v.npy"
    assert str(tmp_path) not in json.dumps(about)
    assert about["note"] == "Item vectors from v.npy; 1 of 4 items are not in it."


def test_an_unknown_source_names_the_nearest() -> None:
    with pytest.raises(Mistake, match="did you mean 'cooccurrence'"):
        vectors_for(TITLED, "coocurrence")


def test_a_new_item_gets_the_vector_it_would_have_had() -> None:
    for source in ("minilm", "text+cooccurrence"):
        vectors, about = vectors_for(TITLED, source, EVENTS)
        new = new_item_vectors([{"title": "cake"}, {}], about)
        assert new.shape == (2, vectors.shape[1])
        np.testing.assert_allclose(new[0, : minilm.DIMENSIONS], vectors[3, : minilm.DIMENSIONS], atol=1e-6)
        assert not new[0, minilm.DIMENSIONS :].any()
        assert not new[1].any()


def test_a_model_without_text_takes_no_new_item_by_text() -> None:
    with pytest.raises(Mistake, match="give the new item's vector"):
        new_item_vectors([{"title": "cake"}], vectors_for(TITLED, "cooccurrence", EVENTS)[1])
