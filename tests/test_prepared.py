"""A prepared folder gives back what was written, is written whole or not at all, and notices damage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sprintrec import prepared as prepared_file
from sprintrec.errors import Mistake
from sprintrec.prepared import Prepared, replaced, write, write_codes
from sprintrec.records import Codes, Events, Items, Log

CODES = Codes("opq", np.array([[0, 1], [1, 0], [1, 1]]), (2, 2), {"centroids": np.arange(4, dtype=np.float32)})


def log(times: bool = True) -> Log:
    """Two users, three items; the second item has no fields."""
    events = Events(
        np.array([0, 1, 2, 0, 2, 1], np.int32),
        np.array([0, 3, 6]),
        np.arange(6) * 100 if times else None,
        np.array([True, True, False, True, True, True]) if times else None,
    )
    items = Items(["007", "é", "b"], [{"title": "Bond", "year": 1962}, {}, {"title": "Le Fabuleux Destin"}])
    return Log(events, items, ["u1", "u2"], ["times are seconds"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "log", log(), "beauty", "last-out", np.eye(3, 4), {"texts": {"encoder": "none"}})
    return tmp_path / "log"


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_everything_comes_back(folder: Path) -> None:
    found, given = Prepared.read(folder), log()
    assert (found.name, found.item_count) == ("beauty", 3)
    assert found.meta["users"] == 2
    assert found.meta["events"] == 6
    assert found.meta["texts"] == {"encoder": "none"}
    assert found.meta["notes"] == ["times are seconds"]
    for name in ("items", "offsets", "times", "targets"):
        np.testing.assert_array_equal(getattr(found.events, name), getattr(given.events, name))
    assert found.events.items.dtype == np.int32
    assert found.items() == given.items
    vectors = found.vectors()
    assert vectors is not None
    assert vectors.dtype == np.float16
    np.testing.assert_array_equal(vectors, np.eye(3, 4))


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    found = write(tmp_path / "log", log(times=False), "x", "last-out")
    assert found.events.times is None
    assert found.events.targets is None
    assert found.vectors() is None
    assert found.meta["vectors_hash"] is None


def test_long_arrays_are_mapped_and_no_user_id_is_kept(folder: Path) -> None:
    found = Prepared.read(folder)
    assert isinstance(found.events.items, np.memmap)
    assert isinstance(found.vectors(), np.memmap)
    assert not any(b"u1" in content for content in contents(folder).values())


def test_the_data_hash_is_of_data_and_protocol(tmp_path: Path) -> None:
    def hash_of(given: Log, protocol: str = "last-out", name: str = "x", vectors: np.ndarray | None = None) -> str:
        return str(write(tmp_path / "log", given, name, protocol, vectors).meta["data_hash"])

    first = hash_of(log())
    assert hash_of(log(), name="y", vectors=np.eye(3)) == first
    assert len({first, hash_of(log(times=False)), hash_of(log(), protocol="time")}) == 3


def test_the_past_has_what_was_asked_for(folder: Path) -> None:
    found = Prepared.read(folder)
    write_codes(found, CODES, {})
    split = found.split()
    bare, full = found.past(split), found.past(split, codes="opq", vectors=True)
    assert bare.events is split.train
    assert (bare.codes, bare.vectors) == (None, None)
    assert full.codes is not None
    assert full.codes.name == "opq"
    assert full.vectors is not None
    assert full.item_count == 3


def test_codes_come_back_with_their_tokenizer(folder: Path) -> None:
    write_codes(Prepared.read(folder), CODES, {"distinct": 3})
    found = Prepared.read(folder).codes("opq")
    assert (found.name, found.sizes, found.hash) == (CODES.name, CODES.sizes, CODES.hash)
    np.testing.assert_array_equal(found.table, CODES.table)
    assert list(found.tokenizer) == ["centroids"]
    np.testing.assert_array_equal(found.tokenizer["centroids"], CODES.tokenizer["centroids"])
    assert json.loads((folder / "codes/opq/quality.json").read_text()) == {"distinct": 3}


def test_a_missing_code_table_names_the_nearest(folder: Path) -> None:
    found = Prepared.read(folder)
    with pytest.raises(Mistake, match="no code tables yet"):
        found.codes("opq")
    write_codes(found, CODES, {})
    with pytest.raises(Mistake, match=r"no code table 'opk': did you mean 'opq'\?"):
        found.codes("opk")


def test_codes_of_another_catalogue_are_refused(folder: Path) -> None:
    with pytest.raises(Mistake, match="the code table has 2 items"):
        write_codes(Prepared.read(folder), Codes("opq", CODES.table[:2], (2, 2)), {})


@pytest.mark.parametrize("table", [[[0, 1], [1, 0], [0, 0]], [[0, 1], [1, 0], [1, 9]]])
def test_an_altered_code_table_is_refused(folder: Path, table: list[list[int]]) -> None:
    found = Prepared.read(folder)
    write_codes(found, CODES, {})
    np.save(folder / "codes/opq/table.npy", np.array(table, np.int32))
    with pytest.raises(Mistake, match="was altered"):
        found.codes("opq")


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("meta.json", b"{", "is damaged"),
        ("meta.json", b'{"format": 99}', "has format 99, this version reads 1"),
        ("sequences.npy", b"", "is damaged"),
        ("sequences.npy", b"\x93NUMPY\x01\x00", "is damaged"),
        ("times.npy", b"\x80\x04N.", "is damaged"),
    ],
)
def test_a_damaged_folder_is_refused_in_one_sentence(folder: Path, file: str, content: bytes, reason: str) -> None:
    (folder / file).write_bytes(content)
    with pytest.raises(Mistake, match=reason) as caught:
        Prepared.read(folder)
    assert len(str(caught.value).splitlines()) == 1


def test_objects_in_an_array_are_not_unpickled(folder: Path) -> None:
    np.save(folder / "vectors.npy", np.array([{}, []], object), allow_pickle=True)
    with pytest.raises(Mistake, match="is damaged"):
        Prepared.read(folder).vectors()


@pytest.mark.parametrize("missing", ["meta.json", "sequences.npy", "offsets.npy"])
def test_a_missing_file_is_a_mistake(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(Mistake, match=f"{missing}.*sprintrec prepare|lacks sequences.npy"):
        Prepared.read(folder)


def test_a_new_folder_takes_the_place_of_the_old(folder: Path) -> None:
    write_codes(Prepared.read(folder), CODES, {})
    found = write(folder, log(times=False), "toys", "last-out")
    assert found.name == "toys"
    assert "codes" not in {path.split("/")[0] for path in contents(folder)}
    assert [path.name for path in folder.parent.iterdir()] == ["log"]


def test_a_write_that_fails_half_way_leaves_the_old_folder_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, save = contents(folder), np.save

    def full_disk(file: Path, array: np.ndarray) -> None:
        if file.name == "times.npy":
            raise OSError(28, "No space left on device", str(file))
        save(file, array)

    monkeypatch.setattr(prepared_file.np, "save", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write(folder, log(), "toys", "last-out")
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["log"]


def test_a_folder_that_cannot_take_its_place_leaves_the_old_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two folders can't be swapped in one step, and the second of two steps fails."""
    before, rename = contents(folder), prepared_file.os.rename
    monkeypatch.setattr(prepared_file, "_exchanged", lambda one, other: False)

    def refused(source: Path, target: Path) -> None:
        if target == folder and not source.name.endswith(".old"):
            raise PermissionError(13, "Permission denied", str(target))
        rename(source, target)

    monkeypatch.setattr(prepared_file.os, "rename", refused)
    with pytest.raises(PermissionError):
        write(folder, log(), "toys", "last-out")
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["log"]


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_folder_is_replaced_whichever_way_the_system_allows(
    folder: Path, in_one_step: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_one_step:
        monkeypatch.setattr(prepared_file, "_exchanged", lambda one, other: False)
    assert write(folder, log(), "toys", "last-out").name == "toys"
    assert [path.name for path in folder.parent.iterdir()] == ["log"]


def test_a_link_goes_on_pointing_to_the_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "newest").symlink_to(folder, target_is_directory=True)
    write(tmp_path / "newest", log(), "toys", "last-out")
    assert (tmp_path / "newest").is_symlink()
    assert Prepared.read(folder).name == "toys"


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(Mistake, match="notes is a file: name a folder"):
        write(tmp_path / "notes", log(), "toys", "last-out")
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(Mistake, match=r"holds other files and no meta.json"):
        write(tmp_path, log(), "toys", "last-out")
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_field_called_item_does_not_become_the_id(tmp_path: Path) -> None:
    items = Items(["1", "2", "3"], [{"item": "a lamp"}, {}, {}])
    named = Log(log().events, items, ["u1", "u2"])
    assert write(tmp_path / "log", named, "x", "last-out").items().ids == ["1", "2", "3"]


def test_an_interrupt_leaves_no_draft(tmp_path: Path) -> None:
    def interrupted() -> None:
        with replaced(tmp_path / "deep" / "log") as draft:
            (draft / "half").write_text("written")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list((tmp_path / "deep").iterdir()) == []
