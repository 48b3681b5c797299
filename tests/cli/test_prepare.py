"""``prepare`` and ``codes`` from files to a prepared folder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from sprintrec.cli import main
from sprintrec.prepared import Prepared

Capture = pytest.CaptureFixture[str]
ITEMS = [f"{row:03d}" for row in range(24)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two columns, user and item in order: users stay in one of four groups of six items."""
    random = np.random.default_rng(0)
    groups = random.integers(0, 4, 60)
    rows = [
        f"u{user},{ITEMS[6 * group + item]}" for user, group in enumerate(groups) for item in random.integers(0, 6, 8)
    ]
    (tmp_path / "shop.csv").write_text("\n".join(["user_id,item_id", *rows]) + "\n")
    return tmp_path / "shop.csv"


@pytest.fixture
def sequence_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "amazon2014_tiny"
    folder.mkdir()
    lines = "".join(f"u{user}\t{' '.join(ITEMS[user % 20 : user % 20 + 4])}\n" for user in range(40))
    (folder / "sequences.tsv.gz").write_bytes(gzip.compress(lines.encode()))
    listed = "".join(json.dumps({"item": item, "title": f"Thing {item}"}) + "\n" for item in ITEMS[::-1])
    (folder / "items.jsonl.gz").write_bytes(gzip.compress(listed.encode()))
    np.save(folder / "emb_made.npy", np.random.default_rng(0).standard_normal((24, 8)).astype(np.float16))
    (folder / "sids_paper_made.tsv").write_text("".join(f"{item}\t{place % 7} 3\n" for place, item in enumerate(ITEMS)))
    return folder


def test_two_columns_become_a_folder_with_codes(log: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "prepared"
    assert main(["prepare", str(log), "--out", str(out), "--json"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert (result["name"], result["protocol"], result["users"]) == ("shop", "last-out", 60)
    assert result["texts"]["encoder"] == "cooccurrence"
    assert "No item has text, so vectors come from what is used together." in captured.err
    assert "opq4x256-unique: 4 digits of 4 tokens (not 256" in captured.err
    made = Prepared.read(out)
    assert made.code_names() == ["opq4x256-unique"]
    assert len(made.codes("opq4x256-unique").distinct()[0]) == made.item_count
    vectors = made.vectors()
    assert vectors is not None
    assert vectors.dtype == np.float16


def test_vectors_beside_the_items_are_used_and_said(sequence_folder: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "prepared"
    assert main(["prepare", str(sequence_folder), "--out", str(out), "--codes", "opq2x16,rqkmeans2x16"]) == 0
    assert "Item vectors from emb_made.npy" in capsys.readouterr().err
    made = Prepared.read(out)
    assert made.name == "tiny"
    assert made.code_names() == ["opq2x16", "rqkmeans2x16"]
    beside = np.load(sequence_folder / "emb_made.npy")
    vectors = made.vectors()
    assert vectors is not None
    np.testing.assert_array_equal(vectors[made.items().ids.index("000")], beside[-1])


def test_codes_are_added_listed_and_taken_over(sequence_folder: Path, tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "prepared")
    assert main(["prepare", str(sequence_folder), "--out", out, "--codes", ""]) == 0
    given = str(sequence_folder / "sids_paper_made.tsv")
    assert main(["codes", out, "--make", "opq2x16-unique", "--given", given]) == 0
    capsys.readouterr()
    assert main(["codes", out, "--json"]) == 0
    reports = {report["name"]: report for report in json.loads(capsys.readouterr().out)["codes"]}
    assert reports["paper"]["distinct"] == 7
    assert reports["paper"]["largest_bucket"]["titles"][0].startswith("Thing 0")
    assert reports["opq2x16-unique"]["distinct"] == 24
    assert main(["codes", out]) == 0
    assert "opq2x16-unique" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--codes", "opk4x256"], "did you mean 'opq'"),
        (["--texts", "minilmm"], "did you mean 'minilm'"),
        (["--protocol", "last"], "did you mean 'last-out'"),
        (["--protocol", "time"], "no time stamps"),
    ],
)
def test_a_mistake_is_one_sentence_and_writes_nothing(
    log: Path, tmp_path: Path, capsys: Capture, options: list[str], says: str
) -> None:
    out = tmp_path / "prepared"
    assert main(["prepare", str(log), "--out", str(out), *options]) == 2
    assert says in capsys.readouterr().err.splitlines()[-1]
    assert not out.exists()
