"""The whole path from a log to a measured model: what comes out, and that a stopped run is gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from sprintrec.build import Plan, Watcher, build, recipes_named, work_folder
from sprintrec.errors import Mistake
from sprintrec.recommender import Recommender
from sprintrec.records import Events, Log

TINY = {
    "network.width": 8,
    "network.inner": 8,
    "network.heads": 1,
    "network.decoder_layers": 1,
    "ids.width": 8,
    "ids.history": 5,
    "training.epochs": 1,
}


def plan(**changes: object) -> Plan:
    return Plan("tiny", recipes_named(["default", "popular"], TINY), **changes)  # type: ignore[arg-type]


def without_times(log: Log) -> Log:
    return Log(Events(log.events.items, log.events.offsets), log.items, log.users)


def test_first_recipe_becomes_the_model_and_all_are_measured(tiny_log: Log, tmp_path: Path) -> None:
    built = build(tiny_log, tmp_path, plan())
    assert [row["method"] for row in built.rows()] == ["sprint", "popular"]
    assert built.recommender.model.config["method"] == "sprint"
    assert all(0 <= row["item"]["ndcg@10"] <= 1 for row in built.rows())
    assert "popular" in built.verdict()
    assert len(built.answers(3)) == 3
    assert built.report("sprintrec train x").startswith("<!doctype html>")


def test_every_recipe_under_every_protocol(tiny_log: Log, tmp_path: Path) -> None:
    built = build(tiny_log, tmp_path, plan(protocols=("last-out", "time")))
    found = [(row["protocol"], row["method"]) for row in built.rows()]
    assert found == [(protocol, method) for protocol in ("last-out", "time") for method in ("sprint", "popular")]
    assert set(built.backgrounds) == {("tiny", "last-out"), ("tiny", "time")}
    assert built.recommender.model.config["protocol"] == "last-out"


def test_a_prepared_log_is_gone_on_with_only_if_it_is_the_same(tiny_log: Log, tmp_path: Path) -> None:
    def first_told(log: Log) -> str:
        told: list[str] = []
        build(log, tmp_path, plan(), Watcher(told.append))
        return told[0]

    assert first_told(tiny_log).startswith("Preparing")
    assert "an earlier run prepared" in first_told(tiny_log)
    assert first_told(without_times(tiny_log)).startswith("Preparing")


def test_a_finished_training_is_not_done_again(tiny_log: Log, tmp_path: Path) -> None:
    steps: list[int] = []
    watcher = Watcher(on_step=lambda recipe, step, total, seconds: steps.append(step))
    first = build(tiny_log, tmp_path, plan(), watcher)
    trained = len(steps)
    again = build(tiny_log, tmp_path, plan(), watcher)
    assert len(steps) == trained > 0
    assert first.rows()[0]["item"] == again.rows()[0]["item"]


def test_the_model_can_be_saved_with_its_report(tiny_log: Log, tmp_path: Path) -> None:
    built = build(tiny_log, tmp_path / "work", plan())
    built.recommender.save(tmp_path / "model", beside={"report.html": built.report("x")})
    assert (tmp_path / "model" / "report.html").is_file()
    history = [[tiny_log.items.ids[0]]]
    answers = [model.recommend(history)[0] for model in (built.recommender, Recommender.load(tmp_path / "model"))]
    assert answers[0] == answers[1]


def test_two_runs_into_one_folder_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "model"
    with work_folder(out), pytest.raises(Mistake, match="another run"), work_folder(out):
        pass
    with work_folder(out) as work:
        assert work.is_dir(), "once the first has ended, the next may begin"
