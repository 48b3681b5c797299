"""The command that turns recipes into rows: what it writes, what it never looks at, how it ends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sprintrec import experiment
from sprintrec.evaluation import evaluate
from sprintrec.experiment import Workbench, best_device, machine_description
from sprintrec.method import Run
from sprintrec.prepared import Prepared, write
from sprintrec.recipe import find_recipe
from sprintrec.records import HeldOut, Log
from sprintrec.rows import read_curve, read_ranks, read_rows

SMALL = {
    "sprint": """
        method = "sprint"
        codes = "tiny"
        [network]
        width = 8
        inner = 8
        heads = 1
        decoder_layers = 1
        [training]
        epochs = 2
        batch = 64
    """,
    "sasrec": """
        method = "sasrec"
        [encoder]
        width = 8
        history = 6
        [training]
        epochs = 2
        batch = 16
    """,
}
# "Results row" of the design: every row has at least these.
FIELDS = {
    "dataset",
    "method",
    "recipe",
    "seed",
    "protocol",
    "item",
    "item_seen_kept",
    "code",
    "validation",
    "intervals",
    "codes",
    "texts",
    "data_hash",
    "settings",
    "seconds",
    "machine",
    "version",
}


class Called:
    """The command in this process: how it ended and what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        self.code = experiment.main([*arguments, "--device", "cpu"])
        said = capsys.readouterr()
        self.told = [json.loads(line) for line in said.out.splitlines()]
        self.errors = [line for line in said.err.splitlines() if not line.startswith("tiny ")]
        self.shown = [line for line in said.err.splitlines() if line.startswith("tiny ")]


@pytest.fixture
def recipes(tmp_path: Path) -> dict[str, str]:
    for name, text in SMALL.items():
        (tmp_path / f"small-{name}.toml").write_text(text)
    return {name: str(tmp_path / f"small-{name}.toml") for name in SMALL}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "runs"


# ---- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["small-sprint", "small-sasrec", "popular"])
def test_a_row_says_all_of_it(
    name: str,
    tiny_prepared: Prepared,
    recipes: dict[str, str],
    out: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recipe = recipes.get(name.removeprefix("small-"), name)
    called = Called(capsys, str(tiny_prepared.folder), "--recipe", recipe, "--out", str(out))
    assert (called.code, called.errors) == (0, [])
    (row,) = read_rows(out)
    assert row.keys() >= FIELDS
    assert (row["dataset"], row["method"], row["recipe"]) == ("tiny", name.removeprefix("small-"), name)
    assert (row["seed"], row["protocol"]) == (0, "last-out")
    assert row["data_hash"] == tiny_prepared.meta["data_hash"]
    assert row["questions"] == {"validation": 40, "test": 40}
    assert row["settings"] == json.loads(json.dumps(row["settings"]))
    has_codes = name == "small-sprint"
    for reading in ("item", "item_seen_kept", "code"):
        for part in (row, row["validation"]):
            assert (part[reading] is not None) == (has_codes or reading != "code")
            if part[reading] is not None:
                assert part[reading].keys() >= {
                    f"{metric}@{k}" for metric in ("recall", "ndcg", "mrr") for k in (5, 10)
                }
    assert (row["codes"] is not None) == has_codes
    if has_codes:
        codes = tiny_prepared.codes("tiny")
        assert row["codes"] == {"name": "tiny", "items": 30, "distinct": 30, "hash": codes.hash}
    text = next(out.rglob("*.json")).read_text()
    json.loads(text, parse_constant=pytest.fail)  # neither NaN nor an infinity


def test_a_run_cut_by_the_clock_is_not_named_as_the_recipe(
    tiny_prepared: Prepared, recipes: dict[str, str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [str(tiny_prepared.folder), "--recipe", recipes["sasrec"], "--out", str(out)]
    assert Called(capsys, *asked, "--time-limit", "0").code == 0
    assert Called(capsys, *asked).code == 0
    found = {row["recipe"]: row["run"]["cut"] for row in read_rows(out)}
    assert found == {"small-sasrec+cut": True, "small-sasrec": False}


def test_beside_a_row_lie_the_rank_of_every_target_and_the_curve(
    tiny_prepared: Prepared, recipes: dict[str, str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    called = Called(capsys, str(tiny_prepared.folder), "--recipe", recipes["sprint"], "--out", str(out))
    (row,) = read_rows(out)
    ranks = read_ranks(out, row)
    assert ranks.keys() == {"item", "item_seen_kept", "code"}
    for reading, values in ranks.items():
        assert (values.dtype, len(values)) == (np.uint16, 40)
        assert float((values <= 10).mean()) == row[reading]["recall@10"]
        low, high = row["intervals"][reading]["recall@10"]
        assert low <= row[reading]["recall@10"] <= high
    curve = read_curve(out, row)
    assert [record["epoch"] for record in curve] == [0, 1]
    assert row["seconds"]["epochs"] == len(curve) == len(called.shown)
    assert row["seconds"]["best_epoch"] == curve[-1]["best_epoch"]
    assert called.told[0]["row"] == str(out / "tiny/sprint/small-sprint.last-out.0.json")
    assert called.told[0]["on"] == "test"
    assert called.told[0]["item"] == [round(row["item"][f"{metric}@10"], 4) for metric in ("recall", "ndcg")]


def test_many_recipes_and_seeds_in_one_call(
    tiny_prepared: Prepared, recipes: dict[str, str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--recipe", "popular", "--recipe", recipes["sasrec"], "--seeds", "2", "--first-seed", "3"]
    called = Called(capsys, str(tiny_prepared.folder), *arguments, "--out", str(out))
    made = [(told["recipe"], told["seed"]) for told in called.told]
    assert made == [("popular", 3), ("popular", 4), ("small-sasrec", 3), ("small-sasrec", 4)]
    assert sorted(made) == sorted((row["recipe"], row["seed"]) for row in read_rows(out))


def test_a_changed_setting_changes_the_row_and_its_name(
    tiny_prepared: Prepared, recipes: dict[str, str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--recipe", recipes["sprint"], "--set", "rho=0.5", "--set", "epochs=1", "--out", str(out)]
    assert Called(capsys, str(tiny_prepared.folder), *arguments).code == 0
    (row,) = read_rows(out)
    assert row["recipe"] == "small-sprint+epochs=1+rho=0.5"
    assert row["settings"]["objective"]["rho"] == 0.5
    assert row["seconds"]["epochs"] == 1


def test_a_run_gone_on_with_gives_the_row_of_a_whole_one(
    tiny_prepared: Prepared, recipes: dict[str, str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second call finds the training finished, and tells its epochs and seconds all the same."""
    arguments = [str(tiny_prepared.folder), "--recipe", recipes["sprint"], "--out", str(out), "--resume"]
    first, second = (Called(capsys, *arguments) for _ in range(2))
    assert first.shown == second.shown
    assert first.told[0]["item"] == second.told[0]["item"]
    assert first.told[0]["seconds"]["train"] == second.told[0]["seconds"]["train"]
    assert len(list((out / "checkpoints").rglob("checkpoint.safetensors"))) == 1


# ---- the test part -------------------------------------------------------------------------------


class Hidden(HeldOut):
    """Questions that may be counted but not looked at."""

    def __init__(self, count: int) -> None:
        object.__setattr__(self, "count", count)

    def __len__(self) -> int:
        return self.count

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the test part was looked at: {name}")


def test_without_test_the_test_part_is_never_looked_at(tiny_prepared: Prepared, recipes: dict[str, str]) -> None:
    bench = Workbench(tiny_prepared)
    bench.split = replace(bench.split, test=Hidden(40))
    result = bench.run(find_recipe(recipes["sprint"]), Run(), test=False)
    assert "item" not in result.row
    assert result.row["validation"]["item"]["ndcg@10"] >= 0
    with pytest.raises(AssertionError, match="the test part was looked at"):
        bench.run(find_recipe("popular"), Run(), test=True)


def test_without_test_there_is_a_trial_and_no_row(
    tiny_prepared: Prepared, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        called = Called(capsys, str(tiny_prepared.folder), "--recipe", "popular", "--no-test", "--out", str(out))
        assert called.told[0]["on"] == "validation"
    assert [str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()] == ["trials/tiny-popular.jsonl"]
    trials = (out / "trials" / "tiny-popular.jsonl").read_text().splitlines()
    assert [json.loads(trial)["recipe"] for trial in trials] == ["popular", "popular"]


def test_at_test_the_validation_item_is_part_of_the_history_and_nothing_is_refitted(
    tiny_prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, asked = Workbench(tiny_prepared), []
    monkeypatch.setattr(experiment, "evaluate", lambda *given: (asked.append(given[1]), evaluate(*given))[1])
    result = bench.run(find_recipe("popular"), Run())
    validation, test = asked
    for row in range(len(test)):
        expected = [*validation.histories.row(row), validation.targets[row]]
        assert test.histories.row(row).tolist() == expected
    np.testing.assert_array_equal(
        result.method.state()["popularity"], bench.past(result.method, find_recipe("popular")).popularity()
    )


# ---- how it ends ---------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[list[str], str]] = {
    "recipe": (["--recipe", "defualt"], "unknown recipe 'defualt': did you mean 'default'?"),
    "setting": (["--recipe", "sasrec", "--set", "widht=8"], "unknown setting 'widht'"),
    "value": (["--recipe", "sasrec", "--set", "width=eight"], "must be of kind int"),
    "change": (["--recipe", "sasrec", "--set", "width"], "--set wants NAME=VALUE, not 'width'"),
    "code table": (["--recipe", "default"], "has no code table 'opq4x256-unique': known are tiny"),
    "no code table": (["--recipe", "sprint"], "names no code table: add --set codes=NAME"),
    "level": (["--recipe", "sasrec", "--set", "stop_on=code"], "stops on the code level without a code table"),
}


@pytest.mark.parametrize(("arguments", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence_and_two(
    arguments: list[str], said: str, tiny_prepared: Prepared, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    called = Called(capsys, str(tiny_prepared.folder), *arguments, "--out", str(out))
    assert called.code == 2
    (error,) = called.errors
    assert error.startswith("error: ")
    assert said in error
    assert not out.exists()


def test_what_is_no_prepared_folder_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    called = Called(capsys, str(tmp_path), "--recipe", "popular")
    assert called.code == 2
    assert "is not a prepared folder" in called.errors[0]


@pytest.mark.parametrize(("asked", "said"), [("gpu", "unknown device 'gpu'"), ("cuda:x", "unknown device 'cuda:x'")])
def test_an_unknown_device_is_a_mistake(
    asked: str, said: str, tiny_prepared: Prepared, capsys: pytest.CaptureFixture[str]
) -> None:
    code = experiment.main([str(tiny_prepared.folder), "--recipe", "popular", "--device", asked])
    assert code == 2
    assert said in capsys.readouterr().err


def test_wrong_usage_is_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        experiment.main(["somewhere"])
    assert ended.value.code == 2
    assert "--recipe" in capsys.readouterr().err


def test_failed_work_is_one_and_writes_no_row(
    tiny_prepared: Prepared, recipes: dict[str, str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--recipe", "popular", "--recipe", recipes["sasrec"], "--out", str(out)]
    called = Called(capsys, str(tiny_prepared.folder), *arguments, "--set", "rate=1e30")
    assert called.code == 2  # popular has no rate
    called = Called(capsys, str(tiny_prepared.folder), *arguments[2:], "--set", "rate=1e30")
    assert called.code == 1
    (error,) = called.errors
    assert "the loss is no longer a number" in error
    assert "training.rate is 1e+30" in error
    assert read_rows(out) == []


def test_a_place_that_can_not_be_written_is_one(
    tiny_prepared: Prepared, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out.write_text("a file stands here")
    called = Called(capsys, str(tiny_prepared.folder), "--recipe", "popular", "--out", str(out))
    assert called.code == 1
    (error,) = called.errors
    assert str(out) in error


@pytest.mark.parametrize(("resume", "said"), [([], "with --resume"), (["--resume"], "the same command goes on")])
def test_ctrl_c_is_a_hundred_and_thirty_and_says_how_to_go_on(
    resume: list[str],
    said: str,
    tiny_prepared: Prepared,
    out: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Workbench, "run", interrupted)
    called = Called(capsys, str(tiny_prepared.folder), "--recipe", "popular", "--out", str(out), *resume)
    assert called.code == 130
    assert said in called.errors[0]


# ---- devices -------------------------------------------------------------------------------------


def test_the_device_is_the_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert best_device("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert best_device("auto") == "cpu"
    for asked in ("cuda", "cuda:1"):
        with pytest.raises(experiment.Mistake, match="no GPU that torch can use"):
            best_device(asked)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [best_device(asked) for asked in ("auto", "cuda", "cuda:1", "cpu")] == ["cuda:0", "cuda:0", "cuda:1", "cpu"]
    with pytest.raises(experiment.Mistake, match="there is no GPU 'cuda:2': torch sees 2"):
        best_device("cuda:2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert [best_device(asked) for asked in ("auto", "cuda")] == ["cuda:1", "cuda:1"]


def test_the_machine_is_described() -> None:
    described = machine_description("cpu")
    assert described.keys() == {"processor", "cores", "threads", "python", "torch", "device", "processes"}
    assert described["device"] == "cpu"


def test_without_code_tables_the_way_to_one_is_named(
    tiny_log: Log, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = write(tmp_path / "bare", tiny_log, "tiny", "last-out")
    called = Called(capsys, str(bare.folder), "--recipe", "sprint")
    assert called.code == 2
    assert "'sprintrec codes' makes them" in called.errors[0]
