"""``train``, ``tune`` and ``demo`` as typed: what is printed and written, and what a user's mistakes answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sprintrec.cli.demo
from sprintrec.cli import main
from sprintrec.datasets import Dataset
from sprintrec.recipe import find_recipe
from sprintrec.recommender import Recommender
from sprintrec.records import Log

TINY = (
    *("--set", "network.width=8", "--set", "network.inner=8", "--set", "network.heads=1"),
    *("--set", "network.decoder_layers=1", "--set", "ids.width=8", "--set", "ids.history=5", "--set", "epochs=1"),
)


@pytest.fixture
def events(tmp_path: Path, tiny_log: Log) -> Path:
    """The tiny log as a user and an item column in order."""
    lines = ["user,item"]
    for row, user in enumerate(tiny_log.users):
        lines += [f"{user},{tiny_log.items.ids[item]}" for item in tiny_log.events.row(row)]
    file = tmp_path / "events.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_two_columns_become_a_model_that_answers(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model"
    assert main(["train", str(events), "--out", str(out), *TINY, "--json"]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert [row["method"] for row in result["rows"]] == ["sprint", "popular", "itemknn"]
    assert "vectors come from what is used together" in printed.err
    assert (out / "report.html").is_file()
    assert not out.with_name("model.work").exists(), "work that is done leaves nothing behind"
    assert len(Recommender.load(out).recommend([["003", "004"]], k=5)[0].items) == 5


def test_the_table_for_people(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(events), "--out", str(tmp_path / "m"), "--recipe", "itemknn"]) == 0
    printed = capsys.readouterr().out
    assert "itemknn" in printed
    assert "popular" in printed
    assert "sprintrec recommend" in printed


def test_mistakes_are_one_sentence(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("")
    wrong = {
        "did you mean 'default'": ["--recipe", "defualt", "--out", str(tmp_path / "m")],
        "did you mean": ["--set", "network.widht=8", "--out", str(tmp_path / "m")],
        "NAME=VALUE": ["--set", "width", "--out", str(tmp_path / "m")],
        "no time stamps": ["--protocol", "time", "--out", str(tmp_path / "m")],
        "name a new folder": ["--out", str(tmp_path / "mine")],
    }
    for expected, words in wrong.items():
        assert main(["train", str(events), *words]) == 2, words
        told = capsys.readouterr().err.strip().splitlines()[-1]
        assert expected in told
    assert (tmp_path / "mine" / "thesis.txt").is_file()


def test_tune_writes_a_recipe_that_train_takes(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    search = ["tune", str(events), "--out", str(tmp_path / "t"), "--recipe", "itemknn", "--trials", "3"]
    assert main([*search, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["trials"] == 3
    assert result["score"] >= result["score_before"]
    assert main(search) == 0
    assert "3 trials are there from before" in capsys.readouterr().err
    assert main(["train", str(events), "--out", str(tmp_path / "m"), "--recipe", result["recipe"]]) == 0


def test_the_demos_recipes_are_there() -> None:
    methods = [find_recipe(name).method for name in sprintrec.cli.demo.RECIPES]
    assert methods[0] == "sprint"
    assert set(methods) == {"sprint", "popular", "itemknn", "sasrec"}


def test_the_demo(
    tiny_log: Log, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a tiny log in the place of the films, with the two baselines that learn in one go."""
    films = Dataset("tiny", "Tiny", 0, 0, 0, "", "", lambda: tmp_path, lambda place: tiny_log)
    monkeypatch.setattr(Dataset, "log", lambda self, place=None: self.read(tmp_path))
    monkeypatch.setattr("sprintrec.datasets.find_dataset", lambda name: films)
    monkeypatch.setattr(sprintrec.cli.demo, "RECIPES", ("itemknn", "popular"))
    out = tmp_path / "runs" / "demo"
    for _ in range(2):  # the second replaces the first
        assert main(["demo", "--out", str(out)]) == 0
        printed = capsys.readouterr().out
        assert printed.count("Protocol") == 2
        assert printed.count("is recommended") == 3
        assert printed.rstrip().splitlines()[-1].startswith("  sprintrec train")
        found = json.loads((out / "metrics.json").read_text())["methods"]
        assert set(found) == {"itemknn", "popular"}
        assert 0 <= found["popular"]["item"]["ndcg@10"] <= 1
        assert found["popular"]["code"] is None
        assert sorted(path.name for path in out.iterdir()) == ["metrics.json", "model", "report.html"]
