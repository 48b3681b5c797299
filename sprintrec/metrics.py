"""Rankings and what really came next, as numbers. Pure functions; nothing here reads a file or a model.

Ranks are 1 for the first place; ``ABSENT`` stands for a target that is not in the list. A metric of
rank alone is one number per question, so that means, slices, intervals and paired tests all start
from the same array.
"""

from __future__ import annotations

import numpy as np

from sprintrec.records import Rankings

DEEPEST = 1000  # ranks beyond are not told apart
ABSENT = DEEPEST + 1
CUTS = (5, 10, 20, 50, 100, 1000)


def target_ranks(rankings: Rankings, targets: np.ndarray) -> np.ndarray:
    """The 1-based place of each target in its list, ABSENT where it is not among the first 1,000."""
    hits = rankings.items[:, :DEEPEST] == np.asarray(targets)[:, None]
    return np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, ABSENT).astype(np.uint16)


def code_ranks(rankings: Rankings, targets: np.ndarray, code_of_item: np.ndarray) -> np.ndarray:
    """The place of each target's code when every list is read as a list of distinct codes.

    Row by row: the codes in order of their first item; the rank is the number of distinct codes up to
    and including the target's.
    """
    codes = np.where(rankings.items >= 0, code_of_item[rankings.items], -1)
    wanted = code_of_item[np.asarray(targets)]
    ranks = np.full(len(codes), ABSENT, np.uint16)
    for row, place in enumerate(np.where((codes == wanted[:, None]).any(1), (codes == wanted[:, None]).argmax(1), -1)):
        if place >= 0:
            ranks[row] = min(len(np.unique(codes[row, : place + 1])), ABSENT)
    return ranks


def recall(ranks: np.ndarray, k: int) -> np.ndarray:
    """R@k = 1 if rank <= k else 0 (one target per question, so recall and hit rate are the same)."""
    return (ranks <= k).astype(np.float64)


def ndcg(ranks: np.ndarray, k: int) -> np.ndarray:
    """N@k = 1 / log2(rank + 1) if rank <= k else 0 (the ideal gain is 1 with one target)."""
    return np.where(ranks <= k, 1.0 / np.log2(ranks.astype(np.float64) + 1.0), 0.0)


def mrr(ranks: np.ndarray, k: int) -> np.ndarray:
    """MRR@k = 1 / rank if rank <= k else 0."""
    return np.where(ranks <= k, 1.0 / ranks.astype(np.float64), 0.0)


RANK_METRICS = {"recall": recall, "ndcg": ndcg, "mrr": mrr}


def summary(ranks: np.ndarray, cuts: tuple[int, ...] = CUTS) -> dict[str, float]:
    """Means over all questions: ``{"recall@5": ..., "ndcg@5": ..., "mrr@5": ..., ...}``."""
    if len(ranks) == 0:
        raise ValueError("no question was asked: nothing to average")
    return {f"{name}@{k}": float(metric(ranks, k).mean()) for k in cuts for name, metric in RANK_METRICS.items()}


def coverage(rankings: Rankings, item_count: int, k: int) -> float:
    """Distinct items in all top-k lists / items of the catalogue."""
    shown = rankings.items[:, :k]
    return len(np.unique(shown[shown >= 0])) / item_count


def novelty(rankings: Rankings, popularity: np.ndarray, k: int) -> float:
    """Mean over shown items of -log2((n_i + 1) / (sum_j n_j + items)): bits of surprise of seeing item i."""
    share = (popularity + 1.0) / (popularity.sum() + len(popularity))
    shown = rankings.items[:, :k]
    return float(-np.log2(share[shown[shown >= 0]]).mean())


def popularity_lift(rankings: Rankings, popularity: np.ndarray, history_popularity: float, k: int) -> float:
    """Mean training count of shown items / mean training count of the items in the histories, minus 1."""
    shown = rankings.items[:, :k]
    return float(popularity[shown[shown >= 0]].mean() / history_popularity - 1.0)


def intra_list_distance(rankings: Rankings, vectors: np.ndarray, k: int) -> float:
    """Mean over lists of the mean of 1 - cos(v_i, v_j) over all pairs i < j of the first k items."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    distances = []
    for row in rankings.items[:, :k]:
        shown = unit[row[row >= 0]].astype(np.float64)
        if len(shown) > 1:
            total = shown.sum(axis=0)
            pairs = len(shown) * (len(shown) - 1) / 2
            distances.append(1.0 - (total @ total - (shown * shown).sum()) / 2 / pairs)
    return float(np.mean(distances)) if distances else 0.0
