"""A model folder gives back what was written, is published whole, and refuses what was altered or is no model."""

from __future__ import annotations

import gzip
import json
import random
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sprintrec import model_folder
from sprintrec.codes.assign import assign
from sprintrec.errors import Mistake
from sprintrec.model_folder import ModelFolder, read_model, write_model
from sprintrec.records import Codes, Items, content_hash

FIGURES = {f"{metric}@{cut}": cut / 100 for metric in ("recall", "ndcg") for cut in (5, 10, 20)}
RANGES = {key: (value / 2, value * 2) for key, value in FIGURES.items()}
ROW = {
    "questions": {"validation": 2, "test": 2},
    "item": FIGURES,
    "item_seen_kept": FIGURES,
    "code": None,
    "intervals": {"item": RANGES, "item_seen_kept": RANGES},
}
CONFIG = {
    "dataset": "fruit",
    "method": "popular",
    "recipe": "popular",
    "settings": {},
    "protocol": "last-out",
    "flags": {"ranks_cold_items": True},
    "parameters": 4,
    "codes": {"name": "opq2x2", "items": 3, "distinct": 3, "hash": "x"},
    "texts": {"encoder": "minilm"},
    "data_hash": "0123456789abcdef",
    "counts": {"users": 2, "items": 3, "events": 6, "training_events": 4},
}
TOKENIZER = {
    "rotation": np.eye(4, dtype=np.float32),
    "parts": np.arange(8, dtype=np.float32).reshape(2, 2, 2),
}

# Child processes: ``sys.argv`` is the folder to write, how often, and folders with the models to write in turn.
WRITER = """
import itertools, sys
from sprintrec.model_folder import read_model, write_model
models = itertools.cycle([read_model(path) for path in sys.argv[3:]])
print("ready", flush=True)
for model in itertools.islice(models, int(sys.argv[2])):
    write_model(sys.argv[1], model)
"""


def fruit() -> ModelFolder:
    """Three items; the second has a field that is named like ours, the third an id that is no number."""
    return ModelFolder(
        config=CONFIG,
        state={
            "weights": np.arange(12, dtype=np.float32).reshape(3, 4).T,
            "seen": np.array([True, False, True]),
            "one": np.array(7),
        },
        items=Items(["apple", "é", "007"], [{"title": "Apple"}, {"count": "a dozen", "code": "EAN"}, {}]),
        popularity=np.array([3, 1, 0]),
        metrics=ROW,
        codes=Codes("opq2x2", np.array([[0, 1], [1, 0], [1, 1]], np.int32), (2, 2), TOKENIZER),
        vectors=np.eye(3, 4, dtype=np.float16),
        examples=[{"history": ["apple", "007"], "next": "é"}],
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model(tmp_path / "model", fruit())
    return tmp_path / "model"


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def flip(path: Path, at: int) -> None:
    changed = bytearray(path.read_bytes())
    changed[at] ^= 1
    path.write_bytes(bytes(changed))


def refusal(folder: Path) -> str:
    """What reading is refused with: one sentence."""
    with pytest.raises(Mistake) as caught:
        read_model(folder)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


# ---- what is written comes back ------------------------------------------------------------------


def test_everything_comes_back(folder: Path) -> None:
    found, given = read_model(folder), fruit()
    assert found.items == given.items
    assert {key: found.config[key] for key in CONFIG} == CONFIG
    assert found.metrics == json.loads(json.dumps(ROW))
    assert found.examples == given.examples
    for name, array in given.state.items():
        np.testing.assert_array_equal(found.state[name], array)
        assert found.state[name].dtype == array.dtype
    np.testing.assert_array_equal(found.popularity, given.popularity)
    assert found.vectors is not None
    assert found.vectors.dtype == np.float16
    np.testing.assert_array_equal(found.vectors, given.vectors)


def test_codes_come_back_with_all_that_new_items_need(folder: Path) -> None:
    found, given = read_model(folder).codes, fruit().codes
    assert found is not None
    assert given is not None
    assert (found.name, found.sizes, found.hash) == (given.name, given.sizes, given.hash)
    new_items = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    np.testing.assert_array_equal(assign(found.tokenizer, new_items), assign(given.tokenizer, new_items))


def test_lines_of_items_can_be_read_by_anybody(folder: Path) -> None:
    lines = [json.loads(line) for line in gzip.decompress((folder / "items.jsonl.gz").read_bytes()).splitlines()]
    assert lines[0] == {"item": "apple", "count": 3, "code": [0, 1], "fields": {"title": "Apple"}}
    assert [line["item"] for line in lines] == ["apple", "é", "007"]


def test_what_a_method_does_not_have_is_none(tmp_path: Path) -> None:
    bare = replace(fruit(), codes=None, vectors=None, examples=(), config={**CONFIG, "codes": None})
    write_model(tmp_path / "model", bare)
    found = read_model(tmp_path / "model")
    assert (found.codes, found.vectors, list(found.examples)) == (None, None, [])
    assert "examples.jsonl.gz" not in contents(tmp_path / "model")


def test_the_version_is_of_the_contents(folder: Path, tmp_path: Path) -> None:
    def version_of(model: ModelFolder) -> str:
        return write_model(tmp_path / "other", model).version

    given = fruit()
    again = read_model(folder)
    assert version_of(given) == again.version == version_of(again)
    changed = [
        replace(given, state={**given.state, "weights": np.zeros((4, 3), np.float32)}),
        replace(given, items=Items(["apple", "e", "007"], given.items.fields)),
        replace(given, metrics={**ROW, "seed": 1}),
        replace(given, config={**CONFIG, "recipe": "other"}),
        replace(given, examples=()),
    ]
    assert len({again.version, *map(version_of, changed)}) == len(changed) + 1


def test_everybody_may_read_it(folder: Path) -> None:
    assert all(file.stat().st_mode & stat.S_IROTH for file in [folder, *folder.iterdir()])


def test_reading_needs_no_torch(folder: Path) -> None:
    code = "import sys, sprintrec.model_folder as m; m.read_model(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert not {"torch", "polars", "faiss"} & set(done.stdout.split())
    assert "safetensors" in done.stdout.split()


def test_a_report_may_lie_beside(tmp_path: Path) -> None:
    version = write_model(tmp_path / "model", fruit(), {"report.html": "<p>fine</p>"}).version
    assert (tmp_path / "model" / "report.html").read_text() == "<p>fine</p>"
    assert read_model(tmp_path / "model").version == version == write_model(tmp_path / "bare", fruit()).version


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted([*model_folder.NEEDED, *model_folder.OPTIONAL, "config.json"]))
def test_one_flipped_bit_anywhere_is_noticed(folder: Path, name: str) -> None:
    size = (folder / name).stat().st_size
    for at in sorted({0, size // 3, size // 2, size - 1, *random.Random(0).sample(range(size), 5)}):
        flip(folder / name, at)
        assert name in refusal(folder)
        flip(folder / name, at)
    read_model(folder)


@pytest.mark.parametrize("name", sorted([*model_folder.NEEDED, *model_folder.OPTIONAL]))
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"lacks {name}" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("weights.pkl", b"anything"),
        ("optimizer.PT", b"anything"),
        ("pytorch_model.bin", b"anything"),
        ("extras/scaler.joblib", b"anything"),
        ("notes", b"\x80\x04\x95"),
        ("deep/er/notes.txt", b"PK\x03\x04rest"),
    ],
)
def test_a_planted_pickle_is_refused(folder: Path, name: str, content: bytes) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    assert f"{name} may be a pickle" in refusal(folder)


def test_harmless_files_are_not_minded(folder: Path) -> None:
    (folder / ".DS_Store").write_bytes(b"\x00\x00")
    (folder / "empty").write_bytes(b"")
    before = read_model(folder).version
    (folder / "model.onnx").write_bytes(b"\x08\x07")
    assert read_model(folder).version == before


def test_a_pickle_that_the_config_vouches_for_is_refused(folder: Path) -> None:
    (folder / "evil.pkl").write_bytes(b"\x80\x04N.")
    vouch(folder, lambda config: config["files"].update({"evil.pkl": "0" * 64}))
    assert "lists other files than a model has" in refusal(folder)


def test_another_format_is_refused(folder: Path) -> None:
    vouch(folder, lambda config: config.update(format=2))
    assert "has format 2, this version reads 1" in refusal(folder)


def vouch(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a config and give it the version that goes with the change, as a forger would."""
    config = json.loads((folder / "config.json").read_text())
    del config["version"]
    change(config)
    version = content_hash(model_folder._text(config))
    (folder / "config.json").write_text(model_folder._text({"version": version, **config}))


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", "{}", '{"format": 1}', '{"format": 1, "files": 5}', "[" * 99_999]
)
def test_a_config_that_is_none_is_refused(folder: Path, content: str) -> None:
    (folder / "config.json").write_text(content)
    assert "is no config of a model" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("items.jsonl.gz", b"no gzip"),
        ("items.jsonl.gz", gzip.compress(b"{}\n")),
        ("items.jsonl.gz", gzip.compress(b'{"item": "a", "count": 1, "code": null, "fields": {}}\n')),
        ("items.jsonl.gz", gzip.compress(b"whole")[:-4]),
        ("model.safetensors", b"\x80\x04N."),
        ("codes.safetensors", (1 << 60).to_bytes(8, "little")),
        ("metrics.json", b"\xff"),
    ],
)
def test_contents_that_a_forger_vouches_for_are_still_only_read_as_data(
    folder: Path, name: str, content: bytes
) -> None:
    (folder / name).write_bytes(content)
    vouch(folder, lambda config: config["files"].update({name: model_folder._sha256(folder / name)}))
    assert "is damaged" in refusal(folder)


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    for path in (tmp_path / "none", tmp_path / "file", tmp_path):
        assert "is no model folder (no config.json): make one with 'sprintrec train'" in refusal(path)


def test_other_peoples_files_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("ten years of work")
    with pytest.raises(Mistake, match=r"holds other files and no config.json of ours: name a new folder"):
        write_model(tmp_path, fruit())
    with pytest.raises(Mistake, match="is a file"):
        write_model(tmp_path / "thesis.tex", fruit())
    assert contents(tmp_path) == {"thesis.tex": b"ten years of work"}


# ---- published whole or not at all ---------------------------------------------------------------


@pytest.fixture
def two_models(tmp_path: Path) -> list[Path]:
    """Two models that differ in every array, big enough that writing takes a while."""
    paths = [tmp_path / "first", tmp_path / "second"]
    for number, path in enumerate(paths):
        weights = np.full((500, 500), number, np.float32)
        write_model(path, replace(fruit(), state={"weights": weights}, popularity=np.full(3, number)))
    return paths


def writer(folder: Path, times: int, *models: Path) -> subprocess.Popen[str]:
    """A process that has its models in memory and begins to write."""
    command = [sys.executable, "-c", WRITER, folder, str(times), *models]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def drafts(folder: Path) -> list[str]:
    return [path.name for path in folder.parent.iterdir() if path.name.startswith(f".{folder.name}.")]


def test_a_killed_writer_leaves_a_whole_model(two_models: list[Path], tmp_path: Path) -> None:
    whole, moments = {read_model(path).version for path in two_models}, random.Random(0)
    folders = [tmp_path / f"target{number}" for number in range(6)]
    for target in folders:
        write_model(target, read_model(two_models[0]))
    processes = [writer(target, 1_000_000, *two_models) for target in folders]
    left = []
    for target, process in zip(folders, processes, strict=True):
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=moments.uniform(0.0, 0.1))
        process.kill()
        process.communicate()
        assert read_model(target).version in whole
        left += drafts(target)
    assert left, "no writer was killed while it wrote: nothing was shown"


def test_two_writers_and_a_reader_never_meet_half_a_model(two_models: list[Path], tmp_path: Path) -> None:
    target, whole = tmp_path / "target", {read_model(path).version for path in two_models}
    processes = [writer(target, 40, path) for path in two_models]
    write_model(target, read_model(two_models[0]))
    seen = set()
    while any(process.poll() is None for process in processes):
        found = read_model(target)
        seen.add(found.version)
        assert found.version in whole
        assert set(found.state["weights"].ravel()) == set(found.popularity)
    assert [process.wait() for process in processes] == [0, 0]
    assert seen
    assert drafts(target) == []
    for process in processes:
        process.communicate()


@pytest.mark.parametrize("moment", ["_check", "_parsed"])
def test_a_model_replaced_while_it_is_read_is_read_again(
    two_models: list[Path], moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its files are checked they do not fit the config; after it they are of two models."""
    read, newer = getattr(model_folder, moment), read_model(two_models[1])

    def replaced_meanwhile(*arguments: Any) -> Any:
        monkeypatch.setattr(model_folder, moment, read)
        write_model(two_models[0], newer)
        return read(*arguments)

    monkeypatch.setattr(model_folder, moment, replaced_meanwhile)
    assert read_model(two_models[0]).version == newer.version


def test_a_full_disk_keeps_the_old_model(folder: Path) -> None:
    before = contents(folder)
    code = """
import resource, sys
from dataclasses import replace
import numpy as np
from sprintrec.errors import WorkFailed
from sprintrec.model_folder import read_model, write_model
model = read_model(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_model(sys.argv[1], replace(model, state={"weights": np.zeros(1_000_000)}))
except WorkFailed as failure:
    print(failure)
"""
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True)
    assert "could not be written" in done.stdout, done.stderr
    assert done.stdout.endswith("what was there before is kept\n")
    assert contents(folder) == before
    assert drafts(folder) == []
