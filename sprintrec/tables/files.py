"""Files as bytes and lines: whether a file can be read at all, what it begins with, and all of its lines.

Everything here answers an unreadable file with one sentence: missing, empty, packed in a way we do not
read, or not in UTF-8 at all.
"""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import polars as pl

from sprintrec.errors import Mistake
from sprintrec.tables.table import ROW

PARTS = ("train", "valid", "test")
PART = re.compile(rf"(?P<stem>.+)\.({'|'.join(PARTS)})\.(?P<rest>.+)")
HEAD_BYTES = 1 << 18
GZIP = b"\x1f\x8b"
NOT_READ = {
    b"PK\x03\x04": "is a zip or Excel file: save it as CSV",
    b"BZh": "is packed with bzip2: unpack it, or pack it with gzip",
    b"\xfd7zXZ": "is packed with xz: unpack it, or pack it with gzip",
    b"\x28\xb5\x2f\xfd": "is packed with zstd: unpack it, or pack it with gzip",
    codecs.BOM_UTF16_LE: "is written in UTF-16: save it as UTF-8",
    codecs.BOM_UTF16_BE: "is written in UTF-16: save it as UTF-8",
}


def existing(path: Path) -> Path:
    """The path, if something is there."""
    if path.exists():
        return path
    names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, names, n=1)
    raise Mistake(f"there is no file {path}" + (f": did you mean '{close[0]}'?" if close else ""))


def head(path: Path) -> bytes:
    """The first bytes of a file, unpacked."""
    if existing(path).is_dir():
        raise Mistake(f"{path} is a folder in which no known format was found: name a file")
    try:
        with _unpacked(path) as file:
            start = file.read(HEAD_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _cut_off(path) from error
    for signature, what in NOT_READ.items():
        if start.startswith(signature):
            raise Mistake(f"{path} {what}")
    if not start.strip(codecs.BOM_UTF8 + b" \t\r\n"):
        raise Mistake(f"{path} is empty")
    if b"\r" in start and b"\n" not in start:
        raise Mistake(f"{path} ends its lines as old Macs did (carriage return alone): save it with Unix line ends")
    return start


def head_lines(path: Path) -> list[str]:
    """The first whole lines, without their ends; bytes that are not UTF-8 become U+FFFD."""
    start = head(path)
    # Not splitlines: it also ends lines at signs that may stand inside a title.
    lines = [line.rstrip("\r") for line in start.decode("utf-8-sig", errors="replace").split("\n")]
    cut = len(start) == HEAD_BYTES or not lines[-1]
    return lines[:-1] if cut and len(lines) > 1 else lines


def lines(path: Path, encoding: str = "utf-8-sig") -> Iterator[tuple[int, str]]:
    """All lines with their numbers from 1, without their ends."""
    head(path)
    try:
        with _unpacked(path) as file:
            text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="\n")
            for number, line in enumerate(text, 1):
                yield number, line.rstrip("\r\n")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _cut_off(path) from error


def scan_lines(path: Path) -> pl.LazyFrame:
    """All lines that are not blank, as a lazy frame of ROW and ``line``."""
    head(path)
    # A CSV of one column: unlike polars' own reader of lines it lives with bytes that are not UTF-8. The
    # separator can't stand in JSON, nor in any text a person writes.
    frame = scan_fields(path, ("line",), "\x01", quote=None)
    return frame.filter(pl.col("line").str.strip_chars() != "")


def scan_fields(
    path: Path, names: Sequence[str], separator: str, *, quote: str | None, skip_lines: int = 0
) -> pl.LazyFrame:
    """Delimited fields as text; a row with fewer fields is filled with nulls, further fields are ignored."""
    return pl.scan_csv(
        path,
        has_header=False,
        skip_lines=skip_lines,
        schema=dict.fromkeys(names, pl.String),
        separator=separator,
        quote_char=quote,
        encoding="utf8-lossy",
        row_index_name=ROW,
        truncate_ragged_lines=True,
        extra_columns="ignore",
        missing_columns="insert",
        glob=False,
    )


def is_utf8(path: Path) -> bool:
    """Whether all of a file, which should be a short one, is UTF-8."""
    with _unpacked(path) as file:
        try:
            file.read().decode()
        except UnicodeDecodeError:
            return False
    return True


def split_parts(path: Path) -> list[Path]:
    """All parts of a log that was split beforehand into x.train.csv, x.valid.csv, x.test.csv: in this order."""
    name = PART.fullmatch(path.name)
    if name is None:
        return [path]
    parts = (path.with_name(f"{name['stem']}.{part}.{name['rest']}") for part in PARTS)
    return [part for part in parts if part.is_file()]


def named(folder: Path, *names: str) -> Path | None:
    """The first of some names that exists in a folder, packed or not."""
    paths = (folder / f"{name}{packed}" for name in names for packed in ("", ".gz"))
    return next((path for path in paths if path.is_file()), None)


def _unpacked(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def _cut_off(path: Path) -> Mistake:
    return Mistake(f"{path} is packed, and cut off or damaged: fetch it again")
