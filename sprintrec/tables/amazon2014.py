"""Amazon reviews of 2014: ``reviews_X_5.json.gz`` or ``ratings_X.csv``, items in ``meta_X.json.gz``.

Lines of the item list are Python literals and no JSON; jsonl.py reads both without evaluating anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sprintrec.tables import files, jsonl
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ItemList, Table

ROLES = {"user": "reviewerID", "item": "asin", "time": "unixReviewTime", "rating": "overall"}
REVIEWS = re.compile(r"reviews_(.+?)(_\d+)?\.json(\.gz)?")
FIELDS = ("asin", "title", "brand", "categories", "price", "description")


def holds_events(path: Path) -> bool:
    return path.is_file() and REVIEWS.fullmatch(path.name) is not None


def holds_items(path: Path) -> bool:
    return path.is_file() and path.name.startswith("meta_") and files.head(path).lstrip().startswith(b"{'")


def items_beside(path: Path) -> Path | None:
    name = REVIEWS.fullmatch(path.name)
    return files.named(path.parent, f"meta_{name.group(1)}.json") if name else None


def events(path: Path, options: ReadOptions) -> list[Table]:
    return [jsonl.table(path, roles=ROLES)]


def items(path: Path, options: ReadOptions) -> ItemList:
    return jsonl.item_list(path, tidy=tidy, id_column="asin")


def tidy(fields: Mapping[str, object]) -> dict[str, object]:
    """What describes an item; "also bought" and the like would tell the future, and pictures no text."""
    kept = {name: fields[name] for name in FIELDS if name in fields}
    ranks = fields.get("salesRank")
    if isinstance(ranks, dict) and ranks:
        kept["sales_rank"] = ", ".join(f"{rank} in {where}" for where, rank in ranks.items())
    return kept
