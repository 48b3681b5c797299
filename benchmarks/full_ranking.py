"""How long does measuring take? The plain reference ranks a whole catalogue for every question, on the CPU.

    python benchmarks/full_ranking.py PREPARED [--recipe paper-beauty] [--codes NAME] --out FILE

Weights are as they begin, since they change nothing in the time. Measured as every run measures: seen items
taken out and kept, 1,000 deep, and per code.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from sprintrec.evaluation import evaluate
from sprintrec.experiment import Workbench, machine_description
from sprintrec.gradient_method import GradientMethod
from sprintrec.machine import peak_memory_bytes
from sprintrec.method import Run
from sprintrec.prepared import Prepared
from sprintrec.recipe import find_recipe


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prepared")
    parser.add_argument("--recipe", default="paper-beauty")
    parser.add_argument("--codes")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    bench = Workbench(Prepared.read(options.prepared))
    recipe = find_recipe(options.recipe, {"codes": options.codes} if options.codes else None)
    method = recipe.new_method()
    assert isinstance(method, GradientMethod), f"{recipe.method} has no network to measure"
    method.begin(bench.past(method, recipe), Run())
    before = peak_memory_bytes()
    measured = evaluate(method, bench.split.test, bench.codes(recipe.codes))
    row = {
        "benchmark": "full_ranking",
        "dataset": bench.prepared.name,
        "recipe": recipe.name,
        "questions": len(bench.split.test),
        "items": bench.prepared.item_count,
        "seconds": round(measured.seconds, 2),
        "questions_per_second": round(2 * len(bench.split.test) / measured.seconds, 1),  # each is ranked twice
        "peak_memory_bytes": peak_memory_bytes(),
        "peak_memory_before_bytes": before,
        "machine": machine_description("cpu"),
    }
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(row, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
