"""Code tables made elsewhere: one line per item, its id, a tab, its tokens separated by blanks; gzip or plain.

Such a table comes without a tokenizer, so new items can't be added to it.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from sprintrec.errors import Mistake
from sprintrec.records import Codes


def read_table(path: str | Path, item_ids: Sequence[str], name: str | None = None) -> Codes:
    """The codes of a catalogue's items, in its order; lines of other items are left out.

    Every digit has as many tokens as the next power of two needs to hold the largest in the table.
    """
    path = Path(path)
    found: dict[str, list[int]] = {}
    for number, (item, tokens) in enumerate(_lines(path), start=1):
        if item in found:
            raise Mistake(f"{path}, line {number}: item '{item}' is listed a second time: delete one of the two lines")
        found[item] = _tokens(tokens, f"{path}, line {number}")
        if len(found[item]) != len(next(iter(found.values()))):
            raise Mistake(f"{path}, line {number}: {len(found[item])} tokens, but the lines above have another number")
    missing = [item for item in item_ids if item not in found]
    if missing:
        raise Mistake(
            f"{path} has no code for {len(missing):,} of {len(item_ids):,} items, the first of them '{missing[0]}': "
            "add their lines, or make codes of your own"
        )
    table = np.array([found[item] for item in item_ids], np.int32).reshape(len(item_ids), -1)
    size = 1 << max(int(table.max(initial=0)), 1).bit_length()
    return Codes(name or name_of(path), table, (size,) * table.shape[1])


def name_of(path: Path) -> str:
    """``paper`` for the tables that SPRINT's authors published, else what the file is called."""
    stem = path.name.split(".")[0].removeprefix("sids_")
    return "paper" if stem.split("_")[0] == "paper" else stem


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        raise Mistake(f"there is no code table {path}")
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                item, tab, tokens = line.rstrip("\r\n").partition("\t")
                if not tab:
                    raise Mistake(f"{path}, line {number}: no tab: write item, tab, tokens separated by blanks")
                yield item, tokens
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise Mistake(f"{path} is damaged, or not what its name says ({error})") from error


def _tokens(text: str, where: str) -> list[int]:
    parts = text.split()
    if not parts or not all(part.isascii() and part.isdigit() for part in parts):
        raise Mistake(f"{where}: '{text}' are not whole numbers separated by blanks")
    return [int(part) for part in parts]
