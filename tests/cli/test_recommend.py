"""``recommend``: one history for people and programs, and a file of histories to a file of lists."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from sprintrec import Recommender
from sprintrec.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop where after item n comes item n + 1; "00" was bought once by everybody, so it is popular."""
    rows = [(f"u{user}", f"{item % 20:02d}") for user in range(20) for item in (0, *range(user, user + 5))]
    events = pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row")
    items = pl.DataFrame({"item_id": [f"{item:02d}" for item in range(20)], "title": [f"Tea {n}" for n in range(20)]})
    fitted = Recommender.fit(
        events, items, recipe="itemknn", settings={"pairs": "after", "history": 1}, texts="cooccurrence"
    )
    folder = tmp_path_factory.mktemp("shop") / "model"
    fitted.save(folder)
    return folder


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    (tmp_path / "new.csv").write_text("user,item,time\nann,08,2\nann,07,1\nbob,no such,1\ncid,12,5\ncid,gone,6\n")
    return tmp_path / "new.csv"


def test_one_history_for_people(model: Path, capsys: Capture) -> None:
    assert main(["recommend", str(model), "--history", "07, 08,tea", "-k", "2"]) == 0
    out, err = capsys.readouterr()
    head, _, first, *_ = [line.split() for line in out.splitlines() if line.strip()]
    assert head == ["rank", "item", "title", "score"]
    assert first[:4] == ["1", "09", "Tea", "9"]
    assert err == "Items that the model does not know, skipped: tea.\n"


def test_one_history_for_programs(model: Path, capsys: Capture) -> None:
    assert main(["recommend", str(model), "--history", "07,08,tea", "-k", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    first, second = found["items"]
    assert (first["item_id"], first["rank"], first["title"], second["rank"]) == ("09", 1, "Tea 9", 2)
    assert (found["unknown"], found["fallback"], found["exclude_seen"]) == (["tea"], None, True)
    assert found["model_version"] == Recommender.load(model).model.version


@pytest.mark.parametrize("history", ["", "tea"])
def test_nothing_known_gets_popular_items(model: Path, history: str, capsys: Capture) -> None:
    assert main(["recommend", str(model), "--history", history, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["fallback"] == "popular"
    assert json.loads(out)["items"][0]["item_id"] == "00"
    assert err.endswith("No item of the history is known, so these are popular items.\n")


def test_seen_items_where_asked_for(model: Path, capsys: Capture) -> None:
    def listed(*flags: str) -> list[str]:
        assert main(["recommend", str(model), "--history", "07,08", "-k", "100", "--json", *flags]) == 0
        return [item["item_id"] for item in json.loads(capsys.readouterr().out)["items"]]

    assert len(listed()) == 18
    assert not {"07", "08"} & set(listed())
    assert len(listed("--keep-seen")) == 20


def test_a_file_of_histories(model: Path, histories: Path, capsys: Capture) -> None:
    out = histories.parent / "lists.csv"
    assert main(["recommend", str(model), "--file", str(histories), "--out", str(out), "-k", "3", "--json"]) == 0
    printed, told = capsys.readouterr()
    found = json.loads(printed)
    assert (found["users"], found["unknown_items"], found["users_without_history"]) == (3, 2, 1)
    assert "Items that the model does not know, skipped: 2 (no such, gone)." in told
    assert "Users without any item that the model knows, who get popular items: 1." in told
    lists = pl.read_csv(out, infer_schema=False)
    assert lists.columns == ["user_id", "item_id", "score", "rank"]
    first = lists.filter(pl.col("rank") == "1")
    assert dict(zip(first["user_id"], first["item_id"], strict=True)) == {"ann": "09", "bob": "00", "cid": "13"}
    assert len(lists) == 9


def test_its_lists_can_be_measured(model: Path, tmp_path: Path, capsys: Capture) -> None:
    """The same log as histories without its last event, and as the log that is asked."""
    walks = {f"u{user}": [f"{item % 20:02d}" for item in range(user, user + 5)] for user in range(20)}
    for name, cut in (("log", 5), ("past", 4)):
        rows = [f"{user},{item}" for user, walk in walks.items() for item in walk[:cut]]
        (tmp_path / f"{name}.csv").write_text("\n".join(["user,item", *rows]))
    lists = str(tmp_path / "lists.parquet")
    assert main(["recommend", str(model), "--file", str(tmp_path / "past.csv"), "--out", lists]) == 0
    assert "20 lists are in" in capsys.readouterr().out
    assert main(["evaluate", "--lists", lists, "--data", str(tmp_path / "log.csv"), "--json"]) == 0
    from_lists = json.loads(capsys.readouterr().out)
    assert main(["evaluate", str(model), "--data", str(tmp_path / "log.csv"), "--json"]) == 0
    from_model = json.loads(capsys.readouterr().out)
    assert from_lists["item"]["ndcg@10"] == from_model["item"]["ndcg@10"] > 0.8


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "give either --history ID,ID,... or --file HISTORIES"),
        (["--history", "1", "--file", "x"], "give either --history ID,ID,... or --file HISTORIES"),
        (["--file", "x"], "--file and --out go together"),
        (["--history", "1", "--out", "x"], "--file and --out go together"),
        (["--history", "1", "-k", "0"], "'-k'"),
        (["--file", "no such", "--out", "x.csv"], "there is no file no such"),
    ],
)
def test_wrong_use_is_one_sentence(model: Path, flags: list[str], said: str, capsys: Capture) -> None:
    assert main(["recommend", str(model), *flags]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_an_ending_that_cannot_be_written(model: Path, histories: Path, capsys: Capture) -> None:
    assert main(["recommend", str(model), "--file", str(histories), "--out", "lists.xlsx"]) == 2
    assert "lists are written as .csv" in capsys.readouterr().err


def test_what_is_no_model(tmp_path: Path, capsys: Capture) -> None:
    assert main(["recommend", str(tmp_path / "none"), "--history", "1"]) == 2
    assert capsys.readouterr().err.endswith("is no model folder (no config.json): make one with 'sprintrec train'\n")
