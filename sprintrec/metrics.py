"""Rankings and what really came next, as numbers. Pure functions; nothing here reads a file or a model.

Ranks are 1 for the first place; ``ABSENT`` stands for a target that is not in the list. A metric of
rank alone is one number per question, so that means, slices, intervals and paired tests all start
from the same array.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sprintrec.records import Rankings

DEEPEST = 1000  # ranks beyond are not told apart
ABSENT = DEEPEST + 1
CUTS = (5, 10, 20, 50, 100, 1000)
ROWS_AT_ONCE = 512  # keeps the work on long lists within some tens of megabytes


def target_ranks(rankings: Rankings, targets: np.ndarray) -> np.ndarray:
    """The 1-based place of each target in its list, ABSENT where it is not among the first 1,000."""
    hits = rankings.items[:, :DEEPEST] == np.asarray(targets)[:, None]
    return np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, ABSENT).astype(np.uint16)


def code_ranks(rankings: Rankings, targets: np.ndarray, code_of_item: np.ndarray) -> np.ndarray:
    """The place of each target's code when every list is read as a list of distinct codes.

    Row by row: the codes in order of their first item; the rank is the number of distinct codes up to
    and including the target's.
    """
    code_of_item = np.asarray(code_of_item, np.int32)  # half the width, twice the speed of the sort
    ranks = np.full(len(rankings), ABSENT, np.uint16)
    for start in range(0, len(rankings), ROWS_AT_ONCE):
        items = rankings.items[start : start + ROWS_AT_ONCE]
        codes = np.where(items >= 0, code_of_item[items], -1)
        wanted = code_of_item[targets[start : start + ROWS_AT_ONCE]][:, None]
        hits = codes == wanted
        place = hits.argmax(axis=1)[:, None]
        found = np.flatnonzero(hits.any(axis=1))
        # What comes after the target is overwritten by its code, which adds nothing to the distinct ones.
        until = np.where(np.arange(codes.shape[1]) <= place[found], codes[found], wanted[found])
        until.sort(axis=1)
        distinct = 1 + (until[:, 1:] != until[:, :-1]).sum(axis=1)
        ranks[start + found] = np.minimum(distinct, ABSENT)
    return ranks


def recall(ranks: np.ndarray, k: int) -> np.ndarray:
    """R@k = 1 if rank <= k else 0 (one target per question, so recall and hit rate are the same)."""
    return _within(ranks, k).astype(np.float64)


def ndcg(ranks: np.ndarray, k: int) -> np.ndarray:
    """N@k = 1 / log2(rank + 1) if rank <= k else 0 (the ideal gain is 1 with one target)."""
    return np.where(_within(ranks, k), 1.0 / np.log2(ranks.astype(np.float64) + 1.0), 0.0)


def mrr(ranks: np.ndarray, k: int) -> np.ndarray:
    """MRR@k = 1 / rank if rank <= k else 0."""
    return np.where(_within(ranks, k), 1.0 / ranks.astype(np.float64), 0.0)


def _within(ranks: np.ndarray, k: int) -> np.ndarray:
    if not 1 <= k <= DEEPEST:
        raise ValueError(f"ranks are known from 1 to {DEEPEST}: nothing can be cut at {k}")
    return ranks <= k


RankMetric = Callable[[np.ndarray, int], np.ndarray]
RANK_METRICS: dict[str, RankMetric] = {"recall": recall, "ndcg": ndcg, "mrr": mrr}


def summary(ranks: np.ndarray, cuts: tuple[int, ...] = CUTS) -> dict[str, float]:
    """Means over all questions: ``{"recall@5": ..., "ndcg@5": ..., "mrr@5": ..., ...}``."""
    if len(ranks) == 0:
        raise ValueError("no question was asked: nothing to average")
    return {f"{name}@{k}": float(metric(ranks, k).mean()) for k in cuts for name, metric in RANK_METRICS.items()}


def coverage(rankings: Rankings, item_count: int, k: int) -> float:
    """Distinct items in all top-k lists / items of the catalogue."""
    seen = np.zeros(item_count, bool)
    seen[_shown(rankings, k)] = True
    return float(seen.mean())


def novelty(rankings: Rankings, popularity: np.ndarray, k: int) -> float:
    """Mean over shown items of -log2((n_i + 1) / (sum_j n_j + items)): bits of surprise of seeing item i."""
    share = (popularity + 1.0) / (popularity.sum() + len(popularity))
    return _mean(-np.log2(share[_shown(rankings, k)]))


def popularity_lift(rankings: Rankings, popularity: np.ndarray, history_popularity: float, k: int) -> float:
    """Mean training count of shown items / mean training count of the items in the histories, minus 1."""
    shown = popularity[_shown(rankings, k)]
    return _mean(shown) / history_popularity - 1.0 if len(shown) and history_popularity else 0.0


def intra_list_distance(rankings: Rankings, vectors: np.ndarray, k: int) -> float:
    """Mean over lists of the mean of 1 - cos(v_i, v_j) over all pairs i < j of the first k items."""
    distances = []
    for row in rankings.items[:, :k]:
        # In full precision: vectors are stored in half, where a norm overflows and a small sum vanishes.
        shown = vectors[row[row >= 0]].astype(np.float64)
        if len(shown) > 1:
            unit = shown / np.maximum(np.linalg.norm(shown, axis=1, keepdims=True), 1e-12)
            total = unit.sum(axis=0)
            pairs = len(unit) * (len(unit) - 1) / 2
            distances.append(1.0 - (total @ total - (unit * unit).sum()) / 2 / pairs)
    return _mean(np.array(distances))


def _shown(rankings: Rankings, k: int) -> np.ndarray:
    """All items of all top-k lists, one after the other."""
    top = rankings.items[:, :k]
    return top[top >= 0]


def _mean(values: np.ndarray) -> float:
    """The mean, 0 of nothing: a row of results holds no NaN."""
    return float(values.mean()) if len(values) else 0.0
