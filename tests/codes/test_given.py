from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sprintrec.codes.given import read_table
from sprintrec.errors import Mistake


def write(folder: Path, text: str, name: str = "sids_paper_opq4x256.tsv.gz") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_a_table_in_the_catalogues_order(tmp_path: Path) -> None:
    codes = read_table(write(tmp_path, "007\t1 200 3\nb\t4 5 6\nother\t9 9 9\n"), ["b", "007"])
    assert codes.name == "paper"
    assert codes.table.tolist() == [[4, 5, 6], [1, 200, 3]]
    assert codes.sizes == (256, 256, 256)
    assert codes.tokenizer == {}


def test_plain_text_with_windows_line_ends(tmp_path: Path) -> None:
    codes = read_table(write(tmp_path, "\ufeffa\t0 1\r\nb\t3 2\r\n", "mine.tsv"), ["a", "b"])
    assert (codes.name, codes.sizes) == ("mine", (4, 4))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a\t1 2\n", "no code for 1 of 2 items, the first of them 'b'"),
        ("a\t1 2\nb\t1 x\n", "line 2: '1 x' are not whole numbers"),
        ("a\t1 2\nb\t-1 2\n", "line 2"),
        ("a\t1 2\nb\t1\n", "line 2: 1 tokens"),
        ("a 1 2\n", "line 1: no tab"),
        ("a\t1 2\na\t1 2\n", "line 2: item 'a' is listed a second time"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(Mistake, match=says):
        read_table(write(tmp_path, text), ["a", "b"])


def test_no_file_and_no_gzip(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match="there is no code table"):
        read_table(tmp_path / "none.tsv", ["a"])
    (tmp_path / "bad.tsv.gz").write_text("a\t1 2\n")
    with pytest.raises(Mistake, match="damaged"):
        read_table(tmp_path / "bad.tsv.gz", ["a"])
