"""``evaluate``: a saved model or another system's lists on a log, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sprintrec import Recommender
from sprintrec.cli import main

Capture = pytest.CaptureFixture[str]
WALKS = {f"u{user}": [f"i{item % 12}" for item in range(user, user + 5)] for user in range(12)}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Sequence files with an item list beside them."""
    folder = tmp_path / "amazon2014_shop"
    folder.mkdir()
    (folder / "sequences.tsv").write_text("".join(f"{user}\t{' '.join(walk)}\n" for user, walk in WALKS.items()))
    (folder / "items.jsonl").write_text("".join(json.dumps({"item": f"i{item}"}) + "\n" for item in range(20)))
    return folder


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    """The right item first for all but one user, who has no list."""
    rows = [f"{user}\t{walk[-1]} i15 i16 i17 i18 i19\n" for user, walk in WALKS.items() if user != "u3"]
    (tmp_path / "lists.tsv").write_text("".join(rows))
    return tmp_path / "lists.tsv"


def test_lists_for_programs(shop: Path, lists: Path, capsys: Capture) -> None:
    assert main(["evaluate", "--lists", str(lists), "--data", str(shop), "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["dataset"], found["protocol"], found["questions"]) == ("shop", "last-out", 12)
    assert found["item"] == {"recall@5": 11 / 12, "ndcg@5": 11 / 12, "mrr@5": 11 / 12}
    assert found["notes"] == err.splitlines()
    assert "Users who are asked and have no list, counted as misses: 1." in err


def test_lists_for_people(shop: Path, lists: Path, capsys: Capture) -> None:
    assert main(["evaluate", "--lists", str(lists), "--data", str(shop)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("12 held-out events of shop, last-out, full ranking:\n")
    assert [line.split() for line in shown.splitlines() if "item" in line] == [["item", "0.9167", "0.9167"]]


def test_a_model(shop: Path, tmp_path: Path, capsys: Capture) -> None:
    fitted = Recommender.fit(shop, recipe="itemknn", settings={"pairs": "after"}, texts="cooccurrence")
    version = fitted.save(tmp_path / "model")
    assert main(["evaluate", str(tmp_path / "model"), "--data", str(shop), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["model_version"], found["same_log"], found["code"]) == (version, True, None)
    assert found["item"] == fitted.metrics["item"]
    assert main(["evaluate", str(tmp_path / "model"), "--data", str(shop)]) == 0
    out, err = capsys.readouterr()
    assert "item, seen kept" in out
    assert "This is the log that the model was made from." in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give either a model folder, or --lists"),
        (["model", "--lists", "lists.tsv"], "give either a model folder, or --lists"),
        (["--lists", "no such"], "there is no file no such"),
        (["no such"], "is no model folder"),
        (["--lists", "lists.tsv", "--protocol", "tme"], "did you mean 'time'?"),
    ],
)
def test_wrong_use_is_one_sentence(
    shop: Path, lists: Path, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(lists.parent)
    assert main(["evaluate", *words, "--data", str(shop)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_the_log_must_be_named(capsys: Capture) -> None:
    assert main(["evaluate", "model"]) == 2
    assert "--data" in capsys.readouterr().err
