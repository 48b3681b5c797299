"""Two processes, started by torchrun on the CPU, find what one finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sprintrec import experiment
from sprintrec.prepared import Prepared

RECIPES = {
    # The last batch of an epoch has fewer rows than there are processes: 40 runs, 13 at a time.
    "tiny-sasrec": """
        method = "sasrec"
        [encoder]
        width = 16
        heads = 2
        dropout = 0.0
        history = 8
        [training]
        epochs = 3
        batch = 13
    """,
    "tiny-sprint": """
        method = "sprint"
        codes = "tiny"
        [network]
        width = 16
        inner = 32
        heads = 2
        decoder_layers = 1
        dropout = 0.0
        [training]
        epochs = 3
        batch = 33
        decay = 0.1
        clip = 0.3
    """,
}

# Dropout differs from process to process: each must go on with random numbers of its own.
STOPPED_AND_GONE_ON_WITH = """
import sys
from pathlib import Path
import torch
from torch import nn
from sprintrec.method import Run
from sprintrec.processes import joined
from sprintrec.training import Trainer, TrainingSettings

drawn = []

def fit(processes, run):
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    x_N3 = torch.randn(30, 3)

    def loss(rows_B):
        drawn.append(torch.rand(1))
        return network(x_N3[rows_B]).square().mean(), len(rows_B)

    trainer = Trainer(
        network,
        30,
        loss,
        TrainingSettings(epochs=4, batch=8, rate=0.1),
        run,
        (lambda: {"score": -trainer.progress.loss_sum}) if processes.is_first else lambda: 1 / 0,
    )
    drawn.clear()
    trainer.fit()
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])

def cut(step, *_):
    if step == 7:
        raise ConnectionError

with joined() as processes:
    whole = fit(processes, Run())
    try:
        fit(processes, Run(checkpoints=Path(sys.argv[1]), checkpoint_seconds=0.0, on_step=cut))
    except ConnectionError:
        gone_on_with = fit(processes, Run(checkpoints=Path(sys.argv[1])))
    everywhere, random = processes.gathered(whole), processes.gathered(torch.cat(drawn))
    if processes.is_first:
        print("numbers of their own" if not torch.isclose(*random).any() else random)
        print("same everywhere" if torch.equal(*everywhere) else everywhere)
        print("same after a stop" if torch.equal(whole, gone_on_with) else (whole, gone_on_with))
"""


def on_two_processes(*command: str) -> subprocess.CompletedProcess[str]:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*torchrun, *command], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done


def results(root: Path, recipe: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (row,) = root.glob(f"tiny/*/{recipe}.*.json")
    curve = row.with_suffix(".curve.jsonl").read_text().splitlines()
    return json.loads(row.read_text()), [json.loads(line) for line in curve]


def test_a_run_stopped_and_gone_on_with_ends_like_a_whole_one(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(STOPPED_AND_GONE_ON_WITH)
    said = on_two_processes(str(script), str(tmp_path / "kept")).stdout.splitlines()
    assert said == ["numbers of their own", "same everywhere", "same after a stop"]


def test_an_experiment_gives_the_same_rows(tiny_prepared: Prepared, tmp_path: Path) -> None:
    """Losses within 1e-5, metrics within 1e-4."""
    recipes = []
    for name, text in RECIPES.items():
        (tmp_path / f"{name}.toml").write_text(text)
        recipes += ["--recipe", str(tmp_path / f"{name}.toml")]
    arguments = [str(tiny_prepared.folder), *recipes, "--device", "cpu", "--out"]
    assert experiment.main([*arguments, str(tmp_path / "one")]) == 0
    said = on_two_processes("-m", "sprintrec.experiment", *arguments, str(tmp_path / "two"))
    assert len(said.stdout.splitlines()) == len(RECIPES)
    written = [
        sorted(file.relative_to(tmp_path / root) for file in (tmp_path / root).rglob("*")) for root in ("one", "two")
    ]
    assert written[0] == written[1]
    for name in RECIPES:
        (row, curve), (other, other_curve) = (results(tmp_path / root, name) for root in ("one", "two"))
        losses, other_losses = ([record["loss"] for record in found] for found in (curve, other_curve))
        assert losses == pytest.approx(other_losses, abs=1e-5)
        for level in ("item", "item_seen_kept"):
            assert row[level] == pytest.approx(other[level], abs=1e-4)
            assert row["validation"][level] == pytest.approx(other["validation"][level], abs=1e-4)
        assert (row["machine"]["processes"], other["machine"]["processes"]) == (1, 2)
