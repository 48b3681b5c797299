"""Rename the rows of recipes that have changed since: a bare recipe name means the recipe as it stands today.

    python -m sprintrec.retire results

A row whose settings or code table are no longer its recipe's becomes ``<recipe>@<hash of its settings>``, with
its ranks and its curve. Nothing is lost, and nothing old passes for new.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sprintrec.errors import Mistake
from sprintrec.experiment import CUT, change
from sprintrec.recipe import find_recipe
from sprintrec.records import content_hash
from sprintrec.rows import Row, read_rows, row_path
from sprintrec.settings import read

CHANGE, RETIRED = "+", "@"


def outdated(row: Row) -> bool:
    """Whether a row is not of the recipe that its name says, as that stands today."""
    if RETIRED in row["recipe"]:
        return False
    name, *changes = row["recipe"].split(CHANGE)
    try:
        recipe = find_recipe(name, dict(change(text) for text in changes if CHANGE + text != CUT))
        # A setting that came later has its default in an older row: what it does not say, it did not do.
        settings = read(type(recipe.settings), row["settings"])
    except Mistake:
        return True
    codes = row["codes"]["name"] if row["codes"] else None
    return (recipe.method, recipe.settings, recipe.codes) != (row["method"], settings, codes)


def retire(root: Path) -> Iterator[tuple[Path, Path]]:
    """Rename what is outdated; yields old and new places of the rows."""
    for row in read_rows(root):
        if outdated(row):
            renamed: dict[str, Any] = {**row, "recipe": f"{row['recipe']}{RETIRED}{_settings_hash(row)}"}
            old, new = row_path(root, row), row_path(root, renamed)
            for suffix in (".ranks.npz", ".curve.jsonl"):
                if old.with_suffix(suffix).is_file():
                    os.replace(old.with_suffix(suffix), new.with_suffix(suffix))
            new.write_text(json.dumps(renamed, indent=1, allow_nan=False) + "\n", encoding="utf-8")
            old.unlink()
            yield old, new


def _settings_hash(row: Row) -> str:
    return content_hash(json.dumps([row["settings"], row["codes"]], sort_keys=True))[:8]


def main(arguments: Sequence[str] | None = None) -> int:
    roots = sys.argv[1:] if arguments is None else arguments
    if len(roots) != 1 or not Path(roots[0]).is_dir():
        print("usage: python -m sprintrec.retire FOLDER_OF_ROWS", file=sys.stderr)
        return 2
    for old, new in retire(Path(roots[0])):
        print(f"{old} -> {new}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
