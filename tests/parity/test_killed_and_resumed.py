"""Killed with SIGKILL again and again and started again each time, a run ends with the same bits.

Real processes, with a checkpoint after every step: SPRINT with dropout, sampled negatives and partly
committed codes, then SASRec with dropout.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np

from sprintrec.prepared import Prepared

# Arguments: prepared folder, folder of checkpoints or "none", file for the weights. A line per step is told.
RUN = """
import sys
from pathlib import Path
import numpy as np
import torch
from sprintrec.experiment import Workbench
from sprintrec.method import Run
from sprintrec.prepared import Prepared
from sprintrec.recipe import find_recipe

SPRINT = {
    "codes": "tiny", "network.width": 16, "network.inner": 32, "network.heads": 2, "network.decoder_layers": 1,
    "network.dropout": 0.2, "objective.negatives": 5, "objective.rho": 0.5, "objective.tau": 0.1, "batch": 64,
    "epochs": 4, "rate": 1e-2, "patience": 1,
}
SASREC = {"width": 16, "heads": 2, "history": 8, "batch": 12, "epochs": 4, "rate": 1e-2}

torch.set_num_threads(1)
bench = Workbench(Prepared.read(sys.argv[1]))
weights = {}
for name, changes in (("sprint", SPRINT), ("sasrec", SASREC)):
    run = Run(
        checkpoints=None if sys.argv[2] == "none" else Path(sys.argv[2]) / name,
        checkpoint_seconds=0.0,
        on_step=lambda step, *_: print(name, step, flush=True),
    )
    result = bench.run(find_recipe(name, changes), run)
    weights |= {f"{name}.{key}": array for key, array in result.method.state().items()}
    untimed = [{**record, "seconds": 0} for record in result.curve]
    weights[f"{name}.told"] = np.array(repr([untimed, result.row["item"], result.row["validation"]]))
np.savez(sys.argv[3], **weights)
"""


def started(prepared: Prepared, checkpoints: str, weights: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, str(prepared.folder), checkpoints, str(weights)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def killed_after(process: subprocess.Popen[str], steps: int, writing: Path | None) -> list[str]:
    """Let it tell some steps; then kill it at once, or as soon as it writes a file. What it told before."""
    assert process.stdout is not None
    told = [process.stdout.readline() for _ in range(steps)]
    while writing is not None and not writing.exists() and process.poll() is None:
        pass
    process.kill()
    process.communicate()
    return told


def finished(process: subprocess.Popen[str], weights: Path) -> dict[str, np.ndarray]:
    process.communicate()
    assert process.returncode == 0
    with np.load(weights, allow_pickle=False) as file:
        return dict(file)


def test_killed_anywhere_it_ends_with_the_same_weights(tiny_prepared: Prepared, tmp_path: Path) -> None:
    whole = started(tiny_prepared, "none", tmp_path / "whole.npz")
    kept, draws = tmp_path / "kept", random.Random(5)
    told = []
    for place in range(6):
        process = started(tiny_prepared, str(kept), tmp_path / "killed.npz")
        draft = kept / "sprint" / "checkpoint.draft" if place == 1 else None
        told.append(killed_after(process, draws.randint(2, 5), draft))
    firsts = [lines[0] for lines in told]
    assert "sprint 1\n" in firsts
    assert any(line.startswith("sasrec") for lines in told for line in lines)
    assert len(set(firsts)) == len(firsts)  # two steps told are one step kept: every start went on further
    last = started(tiny_prepared, str(kept), tmp_path / "killed.npz")
    found, expected = finished(last, tmp_path / "killed.npz"), finished(whole, tmp_path / "whole.npz")
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    assert not list(kept.rglob("*.draft"))
