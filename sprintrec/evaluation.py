"""The protocol: ask a method every held-out question, over the whole catalogue, and measure the answers.

Three readings of the same lists, for every method alike:
``item``            the target item's place when all of the user's past is taken out,
``item_seen_kept``  its place when nothing is,
``code``            the place of the target's code among distinct codes, nothing taken out, as the
                    literature counts; absent where a method has no codes.
Names no method, and works as well for lists that another system saved.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sprintrec import metrics
from sprintrec.method import Method, Scores
from sprintrec.records import Codes, HeldOut, Histories, Past, Rankings

BLOCK = 4096  # questions answered at once: bounds the memory of lists 1,000 deep
SHOWN = 20  # how deep lists are kept for what is measured on whole lists
STOPPING_CUT = 10
MEASURED_ON_LISTS = 10


@dataclass(frozen=True)
class Measured:
    """Ranks of the targets per reading, and the heads of the lists with seen items taken out."""

    ranks: Mapping[str, np.ndarray]  # uint16 [questions] under "item", "item_seen_kept" and, with codes, "code"
    shown: Rankings
    seconds: float

    def summaries(self, cuts: tuple[int, ...] = metrics.CUTS) -> dict[str, dict[str, float] | None]:
        readings = ("item", "item_seen_kept", "code")
        return {name: metrics.summary(self.ranks[name], cuts) if name in self.ranks else None for name in readings}


def evaluate(method: Method, asked: HeldOut, codes: Codes | None = None) -> Measured:
    """Full ranking of every question. ``codes`` adds the code reading."""
    started = time.monotonic()
    groups = None if codes is None else codes.distinct()[1]
    # Deep enough for 1,000 distinct codes whatever codes they are, so that code ranks are exact.
    depth = metrics.DEEPEST if groups is None else int(np.sort(np.bincount(groups))[::-1][: metrics.DEEPEST].sum())
    ranks: dict[str, list[np.ndarray]] = {}
    shown = []
    for start in range(0, len(asked), BLOCK):
        histories, targets = asked.histories.slice(start, start + BLOCK), asked.targets[start : start + BLOCK]
        excluded = method.recommend(histories, metrics.DEEPEST)
        kept = method.recommend(histories, depth, exclude_seen=False)
        shown.append(excluded.items[:, :SHOWN])
        ranks.setdefault("item", []).append(metrics.target_ranks(excluded, targets))
        ranks.setdefault("item_seen_kept", []).append(metrics.target_ranks(kept, targets))
        if groups is not None:
            ranks.setdefault("code", []).append(metrics.code_ranks(kept, targets, groups))
    joined = {name: np.concatenate(parts) for name, parts in ranks.items()}
    return Measured(joined, Rankings(np.concatenate(shown)), time.monotonic() - started)


def stopping_score(method: Method, asked: HeldOut, stop_on: str, codes: Codes | None = None) -> Scores:
    """The validation score 0.8 N@10 + 0.2 R@10 at the level a recipe stops on, and its two parts."""
    if stop_on == "code" and codes is None:
        raise ValueError("a method without codes can't stop on the code level")
    groups = codes.distinct()[1] if stop_on == "code" and codes is not None else None
    cut = STOPPING_CUT
    depth = cut if groups is None else int(np.sort(np.bincount(groups))[::-1][:cut].sum())
    ranks = []
    for start in range(0, len(asked), BLOCK):
        histories, targets = asked.histories.slice(start, start + BLOCK), asked.targets[start : start + BLOCK]
        lists = method.recommend(histories, depth, exclude_seen=stop_on == "item")
        ranks.append(
            metrics.target_ranks(lists, targets) if groups is None else metrics.code_ranks(lists, targets, groups)
        )
    joined = np.concatenate(ranks)
    ndcg, recall = (float(metric(joined, cut).mean()) for metric in (metrics.ndcg, metrics.recall))
    return {"score": 0.8 * ndcg + 0.2 * recall, f"ndcg@{cut}": ndcg, f"recall@{cut}": recall}


def beyond_accuracy(measured: Measured, asked: HeldOut, past: Past, vectors: np.ndarray | None) -> dict[str, float]:
    """What the lists show, apart from hits: coverage, novelty, popularity lift, distance within a list."""
    popularity, cut = past.popularity(), MEASURED_ON_LISTS
    history_popularity = float(popularity[asked.histories.items].mean()) if len(asked.histories.items) else 1.0
    found = {
        f"coverage@{cut}": metrics.coverage(measured.shown, past.item_count, cut),
        f"novelty@{cut}": metrics.novelty(measured.shown, popularity, cut),
        f"popularity_lift@{cut}": metrics.popularity_lift(measured.shown, popularity, history_popularity, cut),
    }
    if vectors is not None:
        found[f"intra_list_distance@{cut}"] = metrics.intra_list_distance(measured.shown, np.asarray(vectors), cut)
    return found


def slices(ranks: np.ndarray, asked: HeldOut, past: Past) -> dict[str, dict[str, dict[str, float]]]:
    """R@10 and N@10, with counts, by history length and by how often the target was seen in training."""
    groupings = {
        "history length": (asked.histories.lengths, (1, 3, 5, 10, 20, 50)),
        "target's training events": (past.popularity()[asked.targets], (0, 1, 5, 20, 100)),
    }
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, (values, edges) in groupings.items():
        found[name] = {}
        for low, high in zip(edges, (*edges[1:], None), strict=True):
            inside = (values >= low) & (values < high) if high is not None else values >= low
            label = f"{low}+" if high is None else str(low) if high == low + 1 else f"{low} to {high - 1}"
            if inside.any():
                chosen = ranks[inside]
                found[name][label] = {
                    "questions": int(inside.sum()),
                    "recall@10": float(metrics.recall(chosen, 10).mean()),
                    "ndcg@10": float(metrics.ndcg(chosen, 10).mean()),
                }
    return found


def first_questions(asked: HeldOut, count: int) -> HeldOut:
    """The first questions only, for a quick look."""
    histories: Histories = asked.histories.slice(0, count)
    return HeldOut(histories, asked.targets[:count], asked.users[:count])
