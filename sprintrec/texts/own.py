"""Item vectors made elsewhere, matched to the catalogue by id, or by row where nothing says the ids.

    vectors.npy            [items, d]
    vectors.safetensors    one tensor [items, d], ids as a JSON list under "ids" in its metadata, or none
    vectors.parquet        a column with the id and a column of lists

Ids of the first two may lie beside them: in vectors.ids.txt, one a line, or in the items.jsonl.gz of a
log in sequence files, if that lists as many items. Items without a vector get zeros.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sprintrec.errors import Mistake

ID_COLUMNS = ("item_id", "item", "id", "asin", "parent_asin", "movie_id", "product_id")
ITEM_LIST = "items.jsonl.gz"
SUFFIXES = (".npy", ".safetensors", ".parquet")


def read_vectors(path: str | Path, item_ids: Sequence[str]) -> np.ndarray:
    """Vectors in the catalogue's order, float32 [items, d]."""
    path = Path(path)
    if not path.is_file():
        raise Mistake(f"there is no file of item vectors {path}")
    if path.suffix not in SUFFIXES:
        raise Mistake(f"{path}: item vectors come as {', '.join(SUFFIXES)}")
    read = {".npy": _read_npy, ".safetensors": _read_safetensors, ".parquet": _read_parquet}[path.suffix]
    vectors, ids = read(path)
    known = ids or _ids_beside(path, len(vectors))
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):
        raise Mistake(f"{path} holds {vectors.dtype} of shape {vectors.shape}, not floating-point numbers [items, d]")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise Mistake(
            f"{path}, row {bad[0] + 1}: the vector holds a number that is not finite ({len(bad)} rows in all)"
        )
    if known is None and len(vectors) != len(item_ids):
        raise Mistake(
            f"{path} has {len(vectors):,} rows, the catalogue {len(item_ids):,} items: say which row is which item, "
            f"one id a line, in {_id_file(path)}"
        )
    return vectors.astype(np.float32) if known is None else _by_id(path, vectors, known, item_ids)


def _by_id(path: Path, vectors: np.ndarray, ids: Sequence[str], item_ids: Sequence[str]) -> np.ndarray:
    if len(ids) != len(vectors):
        raise Mistake(f"{path} has {len(vectors):,} rows, but {len(ids):,} ids")
    row_of = {item: row for row, item in enumerate(ids)}
    rows = np.array([row_of.get(item, -1) for item in item_ids], np.int64)
    if len(rows) and (rows < 0).all():
        raise Mistake(f"{path} has no vector for any item: its first id is '{ids[0]}', the catalogue's '{item_ids[0]}'")
    found = np.zeros((len(item_ids), vectors.shape[1]), np.float32)
    found[rows >= 0] = vectors[rows[rows >= 0]]
    return found


def _read_npy(path: Path) -> tuple[np.ndarray, None]:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False), None
    except (ValueError, EOFError) as error:
        raise Mistake(f"{path} is no array of numbers ({error})") from error


def _read_safetensors(path: Path) -> tuple[np.ndarray, list[str] | None]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as tensors:
            names = list(tensors.keys())
            if len(names) != 1:
                raise Mistake(
                    f"{path} holds {len(names)} tensors ({', '.join(sorted(names)[:5])}): leave one [items, d]"
                )
            ids = (tensors.metadata() or {}).get("ids")
            return tensors.get_tensor(names[0]), None if ids is None else list(map(str, json.loads(ids)))
    except (SafetensorError, ValueError) as error:
        raise Mistake(f"{path} is damaged ({error})") from error


def _read_parquet(path: Path) -> tuple[np.ndarray, list[str]]:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise Mistake(f"{path} is damaged ({str(error).splitlines()[0]})") from error
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, (pl.List, pl.Array))]
    ids = [name for name in ID_COLUMNS if name in frame.columns]
    if len(lists) != 1 or not ids:
        raise Mistake(
            f"{path} needs one column of lists of numbers and a column with the item id ({', '.join(ID_COLUMNS)}); "
            f"it has {', '.join(frame.columns)}"
        )
    try:
        vectors = np.array(frame[lists[0]].to_list(), np.float32)
    except (ValueError, TypeError) as error:
        raise Mistake(f"{path}, column {lists[0]}: its lists must be numbers, as many in each row") from error
    return vectors, frame[ids[0]].cast(pl.String).to_list()


def _id_file(path: Path) -> Path:
    return path.with_suffix(".ids.txt")


def _ids_beside(path: Path, rows: int) -> list[str] | None:
    if _id_file(path).is_file():
        return _id_file(path).read_text(encoding="utf-8-sig").splitlines()
    listed = path.with_name(ITEM_LIST)
    if not listed.is_file():
        return None
    with gzip.open(listed, "rt", encoding="utf-8") as lines:
        ids = [str(json.loads(line).get("item")) for line in lines]
    return ids if len(ids) == rows else None
