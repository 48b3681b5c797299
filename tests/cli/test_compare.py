"""``sprintrec compare``: rows of real runs in, the same figures out, as table, JSON, page, CSV and LaTeX."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from sprintrec import experiment
from sprintrec.cli import main
from sprintrec.prepared import Prepared
from sprintrec.report import read_saved
from sprintrec.rows import read_rows

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def runs(tiny_prepared: Prepared, tmp_path: Path, capsys: Capture) -> Path:
    """Popular and SPRINT on the tiny data set, as ``experiment`` leaves them."""
    out = tmp_path / "runs"
    fixed = [str(tiny_prepared.folder), "--out", str(out), "--device", "cpu", "--recipe"]
    small = ["codes=tiny", "epochs=2", "network.width=16", "network.inner=32", "decoder_layers=1"]
    assert experiment.main([*fixed, "popular"]) == 0
    assert experiment.main([*fixed, "sprint", *(word for one in small for word in ("--set", one))]) == 0
    capsys.readouterr()
    return out


def compared(capsys: Capture, *words: str | Path) -> dict[str, Any]:
    assert main(["compare", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_figures_are_the_rows(runs: Path, capsys: Capture) -> None:
    (one,) = compared(capsys, runs, "--metric", "recall@5")["comparisons"]
    rows = {row["method"]: row for row in read_rows(runs)}
    assert rows.keys() == {"popular", "sprint"}
    assert {line["method"]: line["value"] for line in one["methods"]} == {
        method: row["item"]["recall@5"] for method, row in rows.items()
    }
    best, other = one["methods"]
    assert best["test"] is None
    assert one["against"] == best["label"]
    assert other["test"]["difference"] == pytest.approx(best["value"] - other["value"])
    assert other["test"]["wins"] + other["test"]["ties"] + other["test"]["losses"] == one["users"] == 40
    assert one["verdict"]


def test_another_reference_and_level(runs: Path, capsys: Capture) -> None:
    (one,) = compared(capsys, runs, "--against", "sprint", "--level", "item_seen_kept")["comparisons"]
    assert [line["method"] for line in one["methods"] if line["test"] is None] == ["sprint"]
    (one,) = compared(capsys, runs, "--level", "code")["comparisons"]
    assert [line["method"] for line in one["methods"]] == ["sprint"]


def test_files_are_written_from_the_same_rows(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    files = [tmp_path / "out" / name for name in ("report.html", "rows.csv", "rows.tex")]
    words = [word for flag, path in zip(("--html", "--csv", "--latex"), files, strict=True) for word in (flag, path)]
    assert compared(capsys, runs / "tiny", *words)["written"] == [str(path) for path in files]
    for row in read_rows(runs):
        value = row["item"]["ndcg@10"]
        assert f'<data value="{value!r}">{value:.4f}</data>' in files[0].read_text()
        assert repr(value) in {line["value"] for line in csv.DictReader(files[1].open())}
        assert f"{value:.4f}" in files[2].read_text()


def test_curves_of_real_runs_reach_the_report(runs: Path) -> None:
    curves = {run.row["method"]: len(run.curve) for run in read_saved(runs)}
    assert curves == {"popular": 0, "sprint": 2}


def test_people_get_a_table_and_a_verdict(runs: Path, capsys: Capture) -> None:
    assert main(["compare", str(runs)]) == 0
    out = capsys.readouterr().out
    assert "tiny (last-out), 40 users, N@10 per item" in out
    assert {"popular", "sprint"} <= {line.split()[0] for line in out.splitlines() if line.strip()}
    assert "40 users" in out.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--level", "itm"], "unknown level 'itm': did you mean 'item'?"),
        (["--metric", "ndgc@10"], "unknown metric 'ndgc@10': did you mean 'ndcg@10'?"),
        (["--protocol", "tim"], "no row has protocol 'tim': known are last-out"),
        (["--against", "populr"], "--against 'populr' names no single method here: did you mean 'popular'?"),
    ],
)
def test_mistakes_are_one_sentence(runs: Path, capsys: Capture, words: list[str], sentence: str) -> None:
    assert main(["compare", str(runs), *words]) == 2
    assert capsys.readouterr().err == f"{sentence}\n"


def test_a_folder_without_rows(tmp_path: Path, capsys: Capture) -> None:
    assert main(["compare", str(tmp_path)]) == 2
    assert "holds no result rows" in capsys.readouterr().err


def test_a_level_that_no_method_has(runs: Path, capsys: Capture) -> None:
    assert main(["compare", str(runs / "tiny" / "popular"), "--level", "code"]) == 2
    assert "it takes a method with codes" in capsys.readouterr().err
