"""The Python face: ids as strings, tables given back in kind, unknown items listed, nothing of users kept."""

from __future__ import annotations

import gzip
import json
import re
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sprintrec
from sprintrec import Mistake, ReadOptions, Recommendation, Recommender
from sprintrec.records import Log

KINDS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "arrow": pa.Table.from_pydict,
}
QUICK: dict[str, Any] = {"recipe": "itemknn", "settings": {"pairs": "after"}, "texts": "cooccurrence"}


def columns_of(log: Log) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """A log as the columns of two tables; users are called so that their ids are found wherever they are."""
    assert log.events.times is not None
    events = {
        "user_id": [f"secret-{row:02d}" for row in log.events.row_of_each()],
        "item_id": [log.items.ids[item] for item in log.events.items],
        "timestamp": log.events.times.tolist(),
    }
    items = {"item_id": list(log.items.ids), "title": [fields["title"] for fields in log.items.fields]}
    return events, items


@pytest.fixture(scope="module")
def tables(tiny_log: Log) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    return columns_of(tiny_log)


@pytest.fixture(scope="module")
def model(tables: tuple[dict[str, list[Any]], dict[str, list[Any]]]) -> Recommender:
    """Item neighbours on the tiny log: after item i comes item i + 1."""
    return Recommender.fit(*map(pl.DataFrame, tables), **QUICK)


# ---- asking --------------------------------------------------------------------------------------


def test_a_history_gets_what_comes_next(model: Recommender) -> None:
    answers = model.recommend([["003", "004", "005"], ["010"]], k=2)
    assert [answer.items[0] for answer in answers] == ["006", "011"]
    assert all(isinstance(answer, Recommendation) for answer in answers)
    for answer in answers:
        assert len(answer.items) == len(answer.scores) == 2
        assert answer.scores[0] >= answer.scores[1]
        assert (answer.unknown, answer.fallback) == ([], None)


def test_unknown_items_are_skipped_and_listed(model: Recommender) -> None:
    with_unknown, without = model.recommend([["003", "no such", "004", "7"], ["003", "004"]])
    assert with_unknown.unknown == ["no such", "7"]
    assert (with_unknown.items, with_unknown.scores) == (without.items, without.scores)
    assert with_unknown.fallback is None


@pytest.mark.parametrize("history", [[], ["no such"]])
def test_nothing_known_gets_popular_items_and_says_so(model: Recommender, history: list[str]) -> None:
    answer = model.recommend([history], k=5)[0]
    most = np.argsort(-model.model.popularity, kind="stable")[:5]
    assert answer.items == [f"{row:03d}" for row in most]
    assert answer.fallback == "popular"
    assert answer.unknown == history


def test_seen_items_come_back_only_where_asked_for(model: Recommender) -> None:
    history = ["003", "004", "005"]
    assert not set(history) & set(model.recommend([history], k=30)[0].items)
    kept = model.recommend([history], k=30, exclude_seen=False)[0].items
    assert set(history) <= set(kept)
    assert len(kept) == 30


def test_a_list_ends_where_the_catalogue_does(model: Recommender) -> None:
    answer = model.recommend([["003"]], k=1000)[0]
    assert len(answer.items) == len(answer.scores) == 29


def test_whole_numbers_are_ids_too(tables: tuple[dict[str, list[Any]], dict[str, list[Any]]]) -> None:
    events = {**tables[0], "item_id": [int(item) for item in tables[0]["item_id"]]}
    model = Recommender.fit(pd.DataFrame(events), **QUICK)
    assert model.recommend([[3, 4, np.int64(5)]])[0] == model.recommend([["3", "4", "5"]])[0]


@pytest.mark.parametrize(
    ("histories", "said"),
    [
        ("003", "a list of histories"),
        (["003", "004"], "a list of histories"),
        ([3, 4], "a list of histories"),
        ([[["003"]]], "a list of item ids"),
        ([[None]], "a list of item ids"),
        ([[3.0]], "a list of item ids"),
    ],
)
def test_something_else_than_histories_is_a_mistake(model: Recommender, histories: Any, said: str) -> None:
    with pytest.raises(Mistake, match=said):
        model.recommend(histories)


def test_no_history_gets_no_answer(model: Recommender) -> None:
    assert model.recommend([]) == []


# ---- tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_of_table_comes_back(model: Recommender, tables: Any, kind: str) -> None:
    asked = KINDS[kind](tables[0])
    given = model.recommend(asked, k=3)
    assert type(given) is type(asked)
    frame = pl.DataFrame(pa.table(given) if kind == "pandas" else given.lazy().collect() if "polars" in kind else given)
    assert frame.columns == ["user_id", "item_id", "score", "rank"]
    assert frame["rank"].to_list() == [1, 2, 3] * 40
    assert frame["user_id"].to_list() == [user for user in dict.fromkeys(tables[0]["user_id"]) for _ in range(3)]
    history = [
        item for user, item in zip(tables[0]["user_id"], tables[0]["item_id"], strict=True) if user == "secret-00"
    ]
    answer = model.recommend([history], k=3)[0]
    assert frame["item_id"].to_list()[:3] == answer.items
    np.testing.assert_allclose(frame["score"].to_list()[:3], answer.scores)


def test_the_order_of_a_table_is_its_time(model: Recommender) -> None:
    shuffled = pd.DataFrame({"user": ["u", "u"], "item": ["011", "010"], "time": [200, 100]})
    assert model.recommend(shuffled, k=1)["item_id"].tolist() == ["012"]
    renamed = shuffled.rename(columns={"item": "what", "time": "item"})
    options = ReadOptions(item="what", time="item")
    assert model.recommend(renamed, k=1, options=options)["item_id"].tolist() == ["012"]


def test_what_a_table_has_and_the_model_does_not_know_is_a_warning(model: Recommender) -> None:
    asked = pd.DataFrame({"user": ["u", "u", "v"], "item": ["010", "no such", "nor this"]})
    with pytest.warns(UserWarning, match="the model") as caught:
        given = model.recommend(asked, k=2)
    assert [str(one.message) for one in caught] == [
        "Items that the model does not know, skipped: 2 (no such, nor this).",
        "Users without any item that the model knows, who get popular items: 1.",
    ]
    popular = model.recommend([[]], k=2)[0].items
    assert given["item_id"].tolist() == [*model.recommend([["010"]], k=2)[0].items, *popular]


def test_nothing_to_say_is_no_warning(model: Recommender, tables: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(model.recommend(pl.DataFrame(tables[0])))


# ---- fitting and measuring -----------------------------------------------------------------------


def test_files_and_tables_make_the_same_model(tables: Any, tmp_path: Path) -> None:
    told: list[str] = []
    for name, columns in zip(("events", "items"), tables, strict=True):
        pl.DataFrame(columns).write_csv(tmp_path / f"{name}.csv")
    from_files = Recommender.fit(tmp_path / "events.csv", str(tmp_path / "items.csv"), **QUICK, say=told.append)
    from_tables = Recommender.fit(*map(pd.DataFrame, tables), **QUICK, folder=tmp_path / "prepared")
    assert from_files.metrics["item"] == from_tables.metrics["item"]
    assert from_files.metrics["data_hash"] == from_tables.metrics["data_hash"]
    assert from_files.recommend([["003"]]) == from_tables.recommend([["003"]])
    assert from_files.metrics["dataset"] == "events"
    assert any("user from 'user_id'" in sentence for sentence in told)
    assert (tmp_path / "prepared" / "meta.json").is_file()


@pytest.mark.parametrize("mixed", [("events.csv", pd.DataFrame()), (pd.DataFrame(), "items.csv")])
def test_a_path_and_a_table_do_not_go_together(mixed: tuple[Any, Any]) -> None:
    with pytest.raises(Mistake, match="give both as"):
        Recommender.fit(*mixed, **QUICK)


def test_what_is_no_table_is_a_mistake() -> None:
    with pytest.raises(Mistake, match="must be a table of pandas, polars or Arrow, not list"):
        Recommender.fit([("u", "i")], **QUICK)


def test_a_wrong_recipe_is_said_before_the_log_is_read() -> None:
    with pytest.raises(Mistake, match="did you mean 'itemknn'"):
        Recommender.fit("no such file", recipe="itemkn")


def test_columns_can_be_named(tables: Any) -> None:
    events = {"who": tables[0]["user_id"], "what": tables[0]["item_id"]}
    options = ReadOptions(user="who", item="what")
    assert Recommender.fit(pd.DataFrame(events), **QUICK, options=options).metrics["questions"]["test"] == 40


def test_training_is_told_of_and_can_be_cut_short(tables: Any) -> None:
    told: list[str] = []
    settings = {"width": 16, "heads": 1, "history": 10, "epochs": 100}
    model = Recommender.fit(
        pl.DataFrame(tables[0]),
        recipe="sasrec",
        settings=settings,
        texts="cooccurrence",
        time_limit=1e-9,
        say=told.append,
    )
    assert model.metrics["seconds"]["epochs"] == 1
    assert [sentence[:22] for sentence in told if "poch" in sentence] == ["Epoch 1 of at most 100"]
    assert model.metrics["recipe"].startswith("sasrec+epochs=100+")


def test_it_is_measured_when_it_is_fitted(model: Recommender) -> None:
    assert model.evaluate() is model.metrics
    assert 0.5 < model.metrics["item"]["recall@5"] <= 1.0


# ---- saving --------------------------------------------------------------------------------------


def test_a_saved_model_answers_alike(model: Recommender, tmp_path: Path) -> None:
    version = model.save(tmp_path / "model")
    loaded = Recommender.load(tmp_path / "model")
    histories = [["003", "004"], [], ["no such", "010"]]
    assert loaded.recommend(histories) == model.recommend(histories)
    assert loaded.model.version == version
    assert loaded.metrics == json.loads(json.dumps(model.metrics))


def test_a_saved_model_measures_alike(model: Recommender, tables: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    found = Recommender.load(tmp_path / "model").evaluate(*map(pl.DataFrame, tables))
    for reading in ("item", "item_seen_kept", "code"):
        assert found[reading] == model.metrics[reading]
    assert found["same_log"]


def test_no_user_id_is_saved(model: Recommender, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    for file in (tmp_path / "model").iterdir():
        content = file.read_bytes()
        assert b"secret-" not in (gzip.decompress(content) if file.suffix == ".gz" else content), file.name


def test_examples_are_histories_and_what_came_next(model: Recommender, tables: Any, tmp_path: Path) -> None:
    rows = zip(tables[0]["user_id"], tables[0]["item_id"], strict=True)
    walks: dict[str, list[str]] = {}
    for user, item in rows:
        walks.setdefault(user, []).append(item)
    model.save(tmp_path / "model")
    examples = Recommender.load(tmp_path / "model").model.examples
    assert sorted([*one["history"], one["next"]] for one in examples) == sorted(walks.values())
    assert all(one.keys() == {"history", "next"} for one in examples)
    model.save(tmp_path / "model", examples=False)
    assert not (tmp_path / "model" / "examples.jsonl.gz").exists()


def test_at_most_two_hundred_examples() -> None:
    from sprintrec.recommender import examples_of
    from sprintrec.records import HeldOut, Histories

    asked = HeldOut(Histories.of([[row] for row in range(500)]), np.arange(500), np.arange(500))
    examples = examples_of(asked, [str(row) for row in range(500)])
    assert len({one["next"] for one in examples}) == 200
    assert [one["next"] for one in examples] != sorted(one["next"] for one in examples)


def test_a_gpu_that_is_not_there_is_said(model: Recommender, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    model.save(tmp_path / "model")
    with pytest.raises(Mistake, match=r"^there is no GPU that torch can use"):
        Recommender.load(tmp_path / "model", device="cuda")
    assert Recommender.load(tmp_path / "model", device="auto").recommend([["003"]]) == model.recommend([["003"]])


def test_a_model_that_this_version_cannot_take_up_is_refused(model: Recommender, tmp_path: Path) -> None:
    from dataclasses import replace

    from sprintrec.model_folder import write_model

    given = model.model
    odd = {
        "unknown method 'itemkn'": replace(given, config={**given.config, "method": "itemkn"}),
        "unknown setting 'colour'": replace(given, config={**given.config, "settings": {"colour": 1}}),
        "'neighbours'": replace(given, state={"weights": np.zeros(3)}),
    }
    for reason, changed in odd.items():
        write_model(tmp_path / "model", changed)
        with pytest.raises(Mistake, match=re.escape(reason)) as caught:
            Recommender.load(tmp_path / "model")
        assert "train it again, or install the sprintrec that wrote it" in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1


# ---- the package's own name ----------------------------------------------------------------------


def test_public_names_are_loaded_when_asked_for() -> None:
    code = "import sys, sprintrec; print('numpy' in sys.modules); sprintrec.Recommender; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    assert all(getattr(sprintrec, name) is not None for name in sprintrec.__all__)


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Recomender'"):
        _ = sprintrec.Recomender
    assert not hasattr(sprintrec, "nothing")


def test_the_ten_lines_of_the_readme_run(
    tables: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """As they stand there; only what is fitted is smaller."""
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert example is not None
    assert len(example[1].strip().splitlines()) <= 11
    for name, columns in zip(("events", "items"), tables, strict=True):
        renamed = {key: [f"0{one}" if key == "item_id" else one for one in column] for key, column in columns.items()}
        pl.DataFrame(renamed).write_csv(tmp_path / f"{name}.csv")
    fit = Recommender.fit
    monkeypatch.setattr(Recommender, "fit", lambda *logs, **chosen: fit(*logs, **chosen, **QUICK))
    monkeypatch.chdir(tmp_path)
    Path("example.py").write_text(example[1])
    names = runpy.run_path("example.py")
    shown = capsys.readouterr().out.splitlines()
    assert float(shown[0]) > 0
    assert shown[1].endswith("['0042'] None"), "0017 is known, with its zeros"
    assert shown[2].endswith("[] popular")
    assert names["table"].columns == ["user_id", "item_id", "score", "rank"]
