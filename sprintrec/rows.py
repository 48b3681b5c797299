"""Result rows: one JSON object a file, and beside a final row the rank of every user's target.

    <root>/<dataset>/<method>/<recipe>.<protocol>.<seed>.json
    ...                      /<recipe>.<protocol>.<seed>.ranks.npz    uint16 under item, item_seen_kept, code
    ...                      /<recipe>.<protocol>.<seed>.curve.jsonl  one line per epoch
    <root>/trials/<dataset>-<method>.jsonl                            trials: validation only

Rows are what everything published is read from: tables, report and tests never look at a live run.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sprintrec.errors import Mistake

Row = Mapping[str, Any]

# A model folder may lie as deep as a row: its json files are told apart by what a row can't lack.
IDENTITY = {"dataset", "method", "recipe", "protocol", "seed", "item"}


def row_path(root: Path, row: Row) -> Path:
    name = f"{row['recipe']}.{row['protocol']}.{row['seed']}.json"
    return root / row["dataset"] / row["method"] / name.replace("/", "_")


def write_row(root: Path, row: Row, ranks: Mapping[str, np.ndarray], curve: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Write a final row with its ranks and curve; the row itself comes last, so a row found is a row whole."""
    path = row_path(root, row)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(dict(row), indent=1, allow_nan=False) + "\n"
    with open(path.with_suffix(".ranks.draft"), "wb") as file:
        arrays: dict[str, Any] = {name: array.astype(np.uint16) for name, array in ranks.items()}
        np.savez_compressed(file, **arrays)
    os.replace(path.with_suffix(".ranks.draft"), path.with_suffix(".ranks.npz"))
    if curve:
        lines = "".join(json.dumps(dict(line), allow_nan=False) + "\n" for line in curve)
        path.with_suffix(".curve.jsonl").write_text(lines)
    path.with_suffix(".draft").write_text(text)
    os.replace(path.with_suffix(".draft"), path)
    return path


def trials_path(root: Path, dataset: str, method: str) -> Path:
    return root / "trials" / f"{dataset}-{method}.jsonl"


def write_trial(root: Path, row: Row) -> Path:
    path = trials_path(root, row["dataset"], row["method"])
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(dict(row), allow_nan=False) + "\n")
    return path


def read_rows(root: Path, **wanted: Any) -> list[Row]:
    """All final rows below a folder whose fields have the given values, in order of their file names."""
    folders = [glob.escape(str(wanted[key])) if key in wanted else "*" for key in ("dataset", "method")]
    rows = _every_row(root, "/".join([*folders, "*.json"]))
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def read_ranks(root: Path, row: Row) -> dict[str, np.ndarray]:
    path = row_path(root, row).with_suffix(".ranks.npz")
    if not path.is_file():
        raise Mistake(f"{path} is missing: the ranks of this row were not kept, run it again")
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def read_curve(root: Path, row: Row) -> list[Mapping[str, Any]]:
    """One record per epoch; empty where a method learns in one go."""
    path = row_path(root, row).with_suffix(".curve.jsonl")
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _every_row(root: Path, pattern: str) -> Iterator[Row]:
    for path in sorted(root.glob(pattern)):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise Mistake(f"{path} is no result row ({error})") from error
        if isinstance(found, dict) and found.keys() >= IDENTITY:
            yield found
