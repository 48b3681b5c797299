"""What do the parts of a score add to each other? Trains some recipes, then joins their scores per item.

    python benchmarks/joined_scores.py PREPARED --part bsarec --part default --text --out FILE

Every part is a (questions x items) matrix: a method's own score as log-probabilities, SPRINT's two
levels apart, and the untrained cosine between an item's text and the decayed mean of the texts of the
last five items. Weights are chosen on validation, one part after the other; test is read once, at the end.
Wants a GPU: a part of Beauty is a matrix of a gigabyte.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sprintrec.experiment import Workbench, best_device
from sprintrec.gradient_method import GradientMethod, full_precision
from sprintrec.method import Run
from sprintrec.methods.sprint import Sprint, centred
from sprintrec.prepared import Prepared
from sprintrec.ranking import exclude_seen
from sprintrec.recipe import find_recipe
from sprintrec.records import HeldOut, Histories
from sprintrec.settings import parsed

GRID = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 11.0, 16.0)
DECAY, REMEMBERED = 0.7, 5
Parts = Mapping[str, Tensor]


def method_parts(method: GradientMethod, histories: Histories) -> dict[str, Tensor]:
    """A method's score as log-probabilities; of SPRINT each level by itself."""
    blocks: dict[str, list[Tensor]] = {}
    for start in range(0, len(histories), 2048):
        block = histories.slice(start, start + 2048)
        with torch.no_grad(), full_precision():
            if isinstance(method, Sprint):
                for name, part in method.levels(block).items():
                    blocks.setdefault(name, []).append(part.log_softmax(-1)[:, method.candidate_of_item])
            else:
                blocks.setdefault("items", []).append(method.item_scores(block).log_softmax(-1))
    return {name: torch.cat(parts) for name, parts in blocks.items()}


def text_part(vectors: np.ndarray, histories: Histories, device: str) -> Tensor:
    """Cosine of every item's text with the decayed mean of the last items' texts."""
    unit = torch.from_numpy(centred(vectors)).to(device)
    mean = torch.zeros(len(histories), unit.shape[1], device=device)
    for back in range(REMEMBERED):
        rows = np.flatnonzero(histories.lengths > back)
        items = histories.items[histories.offsets[rows + 1] - 1 - back].astype(np.int64)
        mean[torch.from_numpy(rows).to(device)] += DECAY**back * unit[torch.from_numpy(items).to(device)]
    with full_precision():
        return torch.nn.functional.normalize(mean, dim=-1) @ unit.T


def measured(parts: Parts, weights: Mapping[str, float], asked: HeldOut, excluded: bool) -> dict[str, float]:
    total = torch.zeros_like(next(iter(parts.values())))
    for name, weight in weights.items():
        if weight:
            total += weight * parts[name]
    if excluded:
        total = exclude_seen(total, asked.histories)
    target = torch.from_numpy(asked.targets.astype(np.int64)).to(total.device)
    own = total.gather(1, target[:, None])
    rank = 1 + (total > own).sum(1).double()
    hit = rank <= 10
    return {
        "recall@10": float(hit.double().mean()),
        "ndcg@10": float((hit / torch.log2(rank + 1)).mean()),
    }


def best_weights(parts: Parts, names: list[str], asked: HeldOut, excluded: bool) -> dict[str, float]:
    """Coordinate ascent on 0.8 N@10 + 0.2 R@10; the first part keeps weight 1."""

    def score(weights: Mapping[str, float]) -> float:
        found = measured(parts, weights, asked, excluded)
        return 0.8 * found["ndcg@10"] + 0.2 * found["recall@10"]

    weights = {name: float(place == 0) for place, name in enumerate(names)}
    best = score(weights)
    for _ in range(3):
        before = best
        for name in names[1:]:
            for value in GRID:
                tried = {**weights, name: value}
                found = score(tried)
                if found > best:
                    best, weights = found, tried
        if best == before:
            break
    return weights


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prepared")
    parser.add_argument("--part", action="append", default=[], help="RECIPE[,SETTING=VALUE...], again for more")
    parser.add_argument("--join", action="append", default=[], help="names of parts, joined by commas, again for more")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    bench, device = Workbench(Prepared.read(options.prepared)), best_device("auto")
    torch.backends.cuda.matmul.allow_tf32 = True
    parts: dict[str, dict[str, Tensor]] = {"validation": {}, "test": {}}
    asked = {"validation": bench.split.validation, "test": bench.split.test}
    vectors = bench.prepared.vectors()
    if vectors is not None:
        for name, questions in asked.items():
            parts[name]["text"] = text_part(vectors, questions.histories, device)
    report: list[dict[str, Any]] = []
    for text in options.part:
        label, _, definition = text.rpartition(":")
        recipe_name, *changes = definition.split(",")
        recipe = find_recipe(recipe_name, {k: parsed(v) for k, _, v in (change.partition("=") for change in changes)})
        method = bench.fitted(recipe, Run(device=device, seed=options.seed))
        assert isinstance(method, GradientMethod), f"{recipe.method} has no scores to join"
        for name, questions in asked.items():
            for part, scores in method_parts(method, questions.histories).items():
                parts[name][f"{label or recipe.name}.{part}"] = scores
        progress = method.progress
        report.append(
            {"fitted": recipe.name, "label": label, "best_epoch": progress.best_epoch, "seconds": progress.seconds}
        )
        print(json.dumps(report[-1]), flush=True)
    for joined in options.join:
        names = joined.split(",")
        for excluded in (True, False):
            weights = best_weights(parts["validation"], names, asked["validation"], excluded)
            line: dict[str, Any] = {"weights": weights, "seen": "excluded" if excluded else "kept"}
            line |= {name: measured(parts[name], weights, asked[name], excluded) for name in asked}
            report.append(line)
            print(json.dumps(line), flush=True)
    Path(options.out).write_text("".join(json.dumps(line) + "\n" for line in report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
