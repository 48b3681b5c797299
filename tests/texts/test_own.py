from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save_file

from sprintrec.errors import Mistake
from sprintrec.texts.own import read_vectors

VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_rows_in_catalogue_order(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS.astype(np.float16))
    found = read_vectors(tmp_path / "v.npy", ["a", "b", "c"])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, VECTORS)


def test_rows_by_ids_beside(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "v.ids.txt").write_bytes("\ufeff007\r\nb\r\nx\r\n".encode())
    found = read_vectors(tmp_path / "v.npy", ["b", "new", "007"])
    np.testing.assert_array_equal(found, [[2, 3], [0, 0], [0, 1]])


def test_rows_by_the_item_list_beside(tmp_path: Path) -> None:
    np.save(tmp_path / "emb_x.npy", VECTORS)
    lines = "".join(json.dumps({"item": item, "title": "t"}) + "\n" for item in "abc")
    (tmp_path / "items.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    np.testing.assert_array_equal(read_vectors(tmp_path / "emb_x.npy", ["c", "a"]), [[4, 5], [0, 1]])
    # Of another log: as many rows as the catalogue has items still say enough.
    (tmp_path / "items.jsonl.gz").write_bytes(gzip.compress(lines.encode() * 2))
    np.testing.assert_array_equal(read_vectors(tmp_path / "emb_x.npy", ["c", "a", "b"]), VECTORS)


def test_safetensors_with_ids(tmp_path: Path) -> None:
    save_file({"vectors": VECTORS}, tmp_path / "v.safetensors", {"ids": json.dumps(["a", "b", "c"])})
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.safetensors", ["c", "a"]), [[4, 5], [0, 1]])


@pytest.mark.parametrize("ids", [["a", "b", "c"], [1, 2, 3]])
def test_parquet(tmp_path: Path, ids: list[object]) -> None:
    pl.DataFrame({"item_id": ids, "embedding": VECTORS.tolist()}).write_parquet(tmp_path / "v.parquet")
    found = read_vectors(tmp_path / "v.parquet", [str(ids[2]), str(ids[0])])
    np.testing.assert_array_equal(found, [[4, 5], [0, 1]])


@pytest.mark.parametrize(
    ("array", "ids", "says"),
    [
        (VECTORS, ["a", "b"], r"3 rows, the catalogue 2 items.*v\.ids\.txt"),
        (VECTORS[0], ["a"], r"shape \(2,\)"),
        (np.ones((1, 2), int), ["a"], "int64"),
        (np.array([[0, 1], [np.nan, 1]]), ["a", "b"], "row 2: the vector holds a number that is not finite"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, array: np.ndarray, ids: list[str], says: str) -> None:
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(Mistake, match=says):
        read_vectors(tmp_path / "v.npy", ids)


def test_foreign_ids_and_too_few_ids(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "v.ids.txt").write_text("x\ny\nz\n")
    with pytest.raises(Mistake, match="no vector for any item: its first id is 'x', the catalogue's 'a'"):
        read_vectors(tmp_path / "v.npy", ["a"])
    (tmp_path / "v.ids.txt").write_text("a\nb\n")
    with pytest.raises(Mistake, match="3 rows, but 2 ids"):
        read_vectors(tmp_path / "v.npy", ["a"])


def test_files_that_are_not_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "v.npy").write_bytes(b"nothing")
    (tmp_path / "v.safetensors").write_bytes(b"nothing")
    (tmp_path / "v.parquet").write_bytes(b"nothing")
    (tmp_path / "v.csv").write_text("a,1\n")
    np.save(tmp_path / "objects.npy", np.array([{}, {}], object), allow_pickle=True)
    for name in ("v.npy", "v.safetensors", "v.parquet", "v.csv", "objects.npy", "none.npy"):
        with pytest.raises(Mistake):
            read_vectors(tmp_path / name, ["a"])


def test_parquet_without_the_columns_and_ragged(tmp_path: Path) -> None:
    pl.DataFrame({"key": ["a"], "embedding": [[1.0]]}).write_parquet(tmp_path / "v.parquet")
    with pytest.raises(Mistake, match="it has key, embedding"):
        read_vectors(tmp_path / "v.parquet", ["a"])
    pl.DataFrame({"item_id": ["a", "b"], "embedding": [[1.0], [1.0, 2.0]]}).write_parquet(tmp_path / "v.parquet")
    with pytest.raises(Mistake, match="column embedding"):
        read_vectors(tmp_path / "v.parquet", ["a"])


def test_two_tensors_are_one_too_many(tmp_path: Path) -> None:
    save_file({"a": VECTORS, "b": VECTORS}, tmp_path / "v.safetensors")
    with pytest.raises(Mistake, match=r"2 tensors \(a, b\)"):
        read_vectors(tmp_path / "v.safetensors", ["a"])
