"""Amazon reviews of 2018: ``X_5.json.gz`` or ``X.json.gz``, items in ``meta_X.json.gz``, all JSON lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sprintrec.tables import files, jsonl
from sprintrec.tables.amazon2014 import ROLES
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ItemList, Table

REVIEWS = re.compile(r"(.+?)(_\d+)?\.json(\.gz)?")
FIELDS = ("asin", "title", "brand", "price", "description")
SCRIPT = "getTime"  # some titles are a scrap of the shop's page


def holds_events(path: Path) -> bool:
    return _has_keys(path, {"reviewerID", "asin", "unixReviewTime"})


def holds_items(path: Path) -> bool:
    return path.name.startswith("meta_") and _has_keys(path, {"asin", "also_buy"})


def items_beside(path: Path) -> Path | None:
    name = REVIEWS.fullmatch(path.name)
    return files.named(path.parent, f"meta_{name.group(1)}.json") if name else None


def events(path: Path, options: ReadOptions) -> list[Table]:
    return [jsonl.table(path, roles=ROLES)]


def items(path: Path, options: ReadOptions) -> ItemList:
    return jsonl.item_list(path, tidy=tidy, id_column="asin")


def tidy(fields: Mapping[str, object]) -> dict[str, object]:
    """What describes an item, under the names that other years use."""
    kept = {name: fields[name] for name in FIELDS if name in fields}
    if SCRIPT in str(kept.get("title", "")):
        del kept["title"]
    return {
        **kept,
        "features": fields.get("feature"),
        "categories": fields.get("category"),
        "sales_rank": fields.get("rank"),
    }


def _has_keys(path: Path, keys: set[str]) -> bool:
    return jsonl.holds_events(path) and keys <= set(jsonl.first_keys(path))
