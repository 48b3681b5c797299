"""What a code table is worth: how far items share codes, how far tokens are used, what is lost of the vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sprintrec.codes.assign import CHUNK, project, reconstruct, squared_errors
from sprintrec.records import Codes

SHOWN_TITLES = 10


def quality(codes: Codes, vectors: np.ndarray | None = None, titles: Sequence[str] | None = None) -> dict[str, Any]:
    """The report of a table, ready for JSON, its last entry a sentence for people.

    collision_rate        items that share their code with another / items
    largest_bucket        the code that most items share: how many, the code, their first titles
    dead_tokens           per digit, tokens that no item has
    entropy_bits          per digit, -sum_m p_m log2 p_m with p_m the share of items with token m
    reconstruction_error  mean |x - x'|^2 / mean |x - mean(x)|^2 in the tokenizer's space; null without vectors
    items_without_vector  items whose vector is all zeros: their code says nothing
    """
    distinct, code_of = codes.distinct()
    bucket_sizes = np.bincount(code_of, minlength=len(distinct))
    counts = [np.bincount(column, minlength=size) for column, size in zip(codes.table.T, codes.sizes, strict=True)]
    report = {
        "name": codes.name,
        "hash": codes.hash,
        "items": len(codes.table),
        "digits": len(codes.sizes),
        "tokens": list(codes.sizes),
        "dimensions": _dimensions(codes),
        "distinct": len(distinct),
        "collision_rate": float((bucket_sizes[code_of] > 1).mean()) if len(code_of) else 0.0,
        "largest_bucket": _largest_bucket(distinct, code_of, bucket_sizes, titles),
        "dead_tokens": [int((count == 0).sum()) for count in counts],
        "entropy_bits": [_entropy(count) for count in counts],
        "reconstruction_error": None if vectors is None else _lost_share(codes, vectors),
        "items_without_vector": None if vectors is None else int((~np.any(vectors, axis=1)).sum()),
    }
    return {**report, "sentence": _sentence(report)}


def _largest_bucket(
    distinct: np.ndarray, code_of: np.ndarray, sizes: np.ndarray, titles: Sequence[str] | None
) -> dict[str, Any]:
    if not len(sizes):
        return {"items": 0, "code": [], "titles": []}
    largest = int(sizes.argmax())
    rows = np.flatnonzero(code_of == largest)[:SHOWN_TITLES]
    shown = [titles[row] for row in rows] if titles is not None else []
    return {"items": int(sizes[largest]), "code": distinct[largest].tolist(), "titles": shown}


def _entropy(counts: np.ndarray) -> float:
    share = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(share * np.log2(share)).sum()) + 0.0  # no minus zero


def _dimensions(codes: Codes) -> int | None:
    """Numbers of a point in the tokenizer's space; a small catalogue has fewer than were asked for."""
    return reconstruct(codes.tokenizer, codes.table[:1]).shape[1] if codes.tokenizer and len(codes.table) else None


def _lost_share(codes: Codes, vectors: np.ndarray) -> float | None:
    """None where the table came without a tokenizer, or all points are one."""
    if not codes.tokenizer or not len(codes.table):
        return None
    total, squares = np.float64(0), np.float64(0)
    for start in range(0, len(vectors), CHUNK):
        points = project(codes.tokenizer, vectors[start : start + CHUNK]).astype(np.float64)
        total, squares = total + points.sum(axis=0), squares + (points**2).sum()
    spread = squares / len(vectors) - ((total / len(vectors)) ** 2).sum()
    lost = squared_errors(codes.tokenizer, vectors, codes.table).mean(dtype=np.float64)
    return float(lost / spread) if spread > 0 else None


def _sentence(report: dict[str, Any]) -> str:
    shape = f"{report['digits']} digits of {'/'.join(map(str, dict.fromkeys(report['tokens'])))} tokens"
    asked = re.search(r"\dx(\d+)", report["name"])
    if asked and int(asked[1]) > max(report["tokens"]):
        shape += f" (not {asked[1]}: so few training items fill no more)"
    if report["distinct"] == report["items"]:
        sharing = f"each of the {report['items']:,} items has a code of its own"
    else:
        sharing = (
            f"{report['items']:,} items have {report['distinct']:,} distinct codes, {report['collision_rate']:.1%} of "
            f"them share theirs, up to {report['largest_bucket']['items']} one code"
        )
    parts = [f"{report['name']}: {shape}; {sharing}"]
    if any(report["dead_tokens"]):
        parts.append(f"{sum(report['dead_tokens'])} of {sum(report['tokens'])} tokens are not used")
    if report["items_without_vector"]:
        parts.append(f"{report['items_without_vector']:,} items have no vector, so their code says nothing about them")
    return "; ".join(parts) + "."
