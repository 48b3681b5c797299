"""The prepared folder: all that training and measuring need, as plain npy and json.

    meta.json        name, protocol, counts, hashes, notes, versions
    sequences.npy    int32 item rows of all events, user after user, in time order
    offsets.npy      int64 where each user begins
    times.npy        int64 seconds, where the log has times
    targets.npy      bool, where only some event types may be asked for
    items.jsonl.gz   one object per item: "item" (its id) and its fields
    vectors.npy      float16 item vectors, where there are any
    codes/<name>/    table.npy, tokenizer arrays as npy, codes.json, quality.json

No user id is in it. Arrays are memory-mapped when read.
"""

from __future__ import annotations

import ctypes
import gzip
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sprintrec import __version__
from sprintrec.errors import Mistake, nearest
from sprintrec.records import Codes, Events, Items, Log, Past, Split, content_hash
from sprintrec.split import split

FORMAT = 1


@dataclass(frozen=True)
class Prepared:
    """A prepared folder, read: what is small is in memory, what is long is mapped from disk."""

    folder: Path
    meta: Mapping[str, Any]
    events: Events

    @classmethod
    def read(cls, folder: str | Path) -> Prepared:
        folder = Path(folder)
        if not (folder / "meta.json").is_file():
            raise Mistake(f"{folder} is not a prepared folder (no meta.json): make one with 'sprintrec prepare'")
        meta = _parsed(folder / "meta.json")
        if meta.get("format") != FORMAT:
            raise Mistake(f"{folder} has format {meta.get('format')}, this version reads {FORMAT}: prepare it again")
        arrays = [_mapped(folder / f"{name}.npy") for name in ("sequences", "offsets", "times", "targets")]
        if arrays[0] is None or arrays[1] is None:
            raise Mistake(f"{folder} lacks sequences.npy or offsets.npy: prepare it again")
        return cls(folder, meta, Events(arrays[0], np.array(arrays[1]), arrays[2], arrays[3]))

    @property
    def name(self) -> str:
        return str(self.meta["name"])

    @property
    def item_count(self) -> int:
        return int(self.meta["items"])

    def split(self) -> Split:
        return split(self.events, self.meta["protocol"])

    def items(self) -> Items:
        with gzip.open(self.folder / "items.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return Items([row.pop("item") for row in rows], rows)

    def vectors(self) -> np.ndarray | None:
        return _mapped(self.folder / "vectors.npy")

    def code_names(self) -> list[str]:
        return sorted(path.parent.name for path in (self.folder / "codes").glob("*/codes.json"))

    def codes(self, name: str) -> Codes:
        folder = self.folder / "codes" / name
        if not (folder / "codes.json").is_file():
            known = self.code_names()
            raise Mistake(
                f"{self.folder} has no code table '{name}': {nearest(name, known)}"
                if known
                else f"{self.folder} has no code tables yet: make one with 'sprintrec codes'"
            )
        return read_codes(folder)

    def quality(self, name: str) -> dict[str, Any]:
        """The quality report of a code table."""
        return _parsed(self.folder / "codes" / name / "quality.json")

    def past(self, split_: Split, codes: str | None = None, vectors: bool = False) -> Past:
        """What a method may be fitted on."""
        table = self.codes(codes) if codes else None
        return Past(split_.train, self.item_count, table, self.vectors() if vectors else None)


def write(
    folder: str | Path,
    log: Log,
    name: str,
    protocol: str,
    vectors: np.ndarray | None = None,
    about: Mapping[str, Any] | None = None,
) -> Prepared:
    """Write a prepared folder whole or not at all; ``about`` joins meta.json (texts, source, options)."""
    events, items = log.events, log.items
    refuse_to_replace(Path(folder), "meta.json", "data_hash")
    checked_name(name)
    with replaced(Path(folder)) as draft:
        arrays: dict[str, np.ndarray | None] = {
            "sequences": np.ascontiguousarray(events.items, np.int32),
            "offsets": np.ascontiguousarray(events.offsets, np.int64),
            "times": events.times,
            "targets": events.targets,
            "vectors": None if vectors is None else np.ascontiguousarray(vectors, np.float16),
        }
        for key, array in arrays.items():
            if array is not None:
                np.save(draft / f"{key}.npy", array)
        with gzip.open(draft / "items.jsonl.gz", "wt", encoding="utf-8") as lines:
            for item, fields in zip(items.ids, items.fields, strict=True):
                lines.write(json.dumps({**fields, "item": item}, ensure_ascii=False) + "\n")
        meta = {
            "format": FORMAT,
            "version": __version__,
            "name": name,
            "protocol": protocol,
            "users": len(events),
            "items": len(items),
            "events": len(events.items),
            "data_hash": data_hash(log, protocol),
            "vectors_hash": None if arrays["vectors"] is None else content_hash(arrays["vectors"]),
            "notes": list(log.notes),
            **(about or {}),
        }
        (draft / "meta.json").write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return Prepared.read(folder)


def data_hash(log: Log, protocol: str) -> str:
    """What tells one log under one protocol from another: its events and the ids of its items."""
    events = log.events
    optional = [array for array in (events.times, events.targets) if array is not None]
    items, offsets = np.ascontiguousarray(events.items, np.int32), np.ascontiguousarray(events.offsets, np.int64)
    return content_hash(protocol, items, offsets, *optional, *log.items.ids)


def write_codes(prepared: Prepared, codes: Codes, quality: Mapping[str, Any]) -> None:
    """Add a code table, with its quality report, to a prepared folder."""
    if len(codes.table) != prepared.item_count:
        raise Mistake(f"the code table has {len(codes.table)} items, {prepared.folder} has {prepared.item_count}")
    with replaced(prepared.folder / "codes" / checked_name(codes.name)) as draft:
        save_codes(draft, codes)
        (draft / "quality.json").write_text(json.dumps(dict(quality), indent=1) + "\n")


def save_codes(folder: Path, codes: Codes) -> None:
    np.save(folder / "table.npy", codes.table.astype(np.int32))
    for key, array in codes.tokenizer.items():
        np.save(folder / f"tokenizer.{key}.npy", array)
    about = {"name": codes.name, "sizes": list(codes.sizes), "hash": codes.hash}
    (folder / "codes.json").write_text(json.dumps(about) + "\n")


def read_codes(folder: Path) -> Codes:
    about = _parsed(folder / "codes.json")
    table = _loaded(folder / "table.npy")
    found = content_hash(np.ascontiguousarray(table, np.int32))
    if found != about["hash"]:
        raise Mistake(f"{folder}/table.npy was altered: its hash is {found}, codes.json says {about['hash']}")
    tokenizer = {
        path.name.removeprefix("tokenizer.").removesuffix(".npy"): _loaded(path)
        for path in sorted(folder.glob("tokenizer.*.npy"))
    }
    return Codes(about["name"], table, tuple(about["sizes"]), tokenizer)


def refuse_to_replace(folder: Path, mark: str, key: str) -> None:
    """A typing error in a path must delete nothing: what may be replaced is empty, or holds our own file ``mark``.

    Names like config.json are common, so the file must also have the ``key`` that only ours has.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise Mistake(f"{folder} is a file: name a folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        ours = key in json.loads((folder / mark).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        ours = False
    if not ours:
        raise Mistake(f"{folder} holds other files and no {mark} of ours: name a new folder, so that nothing is lost")


def checked_name(name: str) -> str:
    """A name that becomes a folder's name: no way out of the folder it belongs to."""
    if not re.fullmatch(r"\w[\w.+=,-]*", name):
        raise Mistake(f"'{name}' can't be a name here: take letters, digits and . + = , - _")
    return name


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """A draft folder beside the wanted one; on success it takes its place by rename, on failure it is gone."""
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield draft
        draft.chmod(0o755)
        _take_place(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _take_place(draft: Path, folder: Path) -> None:
    """Make the draft the folder; what was there before, if anything, then stands where the draft was."""
    try:
        os.rename(draft, folder)
    except OSError:
        if not folder.is_dir():
            raise
        if not _exchanged(draft, folder):
            _exchange_in_two_steps(draft, folder)


def _exchanged(one: Path, other: Path) -> bool:
    """Swap two folders in one step, so that neither is missing at any moment; False where the system can't."""
    swap = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return swap is not None and swap(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0


def _exchange_in_two_steps(draft: Path, folder: Path) -> None:
    """The same for other systems; where the second step fails, the folder is back."""
    aside = draft.with_name(f"{draft.name}.old")
    os.rename(folder, aside)
    try:
        os.rename(draft, folder)
    except OSError:
        os.rename(aside, folder)
        raise
    os.rename(aside, draft)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Mistake(f"{path} is damaged ({error}): make it again") from error


def _loaded(path: Path, mapped: bool = False) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Mistake(f"{path} is damaged ({error}): make it again") from error


def _mapped(path: Path) -> np.ndarray | None:
    return _loaded(path, mapped=True) if path.is_file() else None
