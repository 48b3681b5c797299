"""Semantic IDs: item vectors in, one tuple of tokens per item out.

A kind of tokenizer is a file of this folder with a ``Settings`` and a ``fit``; a code table is named after
its kind and size, ``opq4x256`` or, with one code per item, ``opq4x256-unique``. The kinds are imported when
they are asked for: assigning codes to new items needs numpy alone.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sprintrec.codes.assign import assign as assign_codes
from sprintrec.codes.assign import codebooks_of
from sprintrec.codes.unique import SUFFIX, make_unique
from sprintrec.errors import Mistake, nearest
from sprintrec.records import Codes
from sprintrec.settings import changed

KINDS = ("opq", "rqkmeans", "rqvae")
_NAME = re.compile(rf"(?P<kind>[a-z]+)(?P<digits>\d+)x(?P<tokens>\d+)(?P<unique>{SUFFIX})?")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Wanted:
    """What the name of a code table asks for."""

    kind: str
    digits: int
    tokens: int
    unique: bool

    @classmethod
    def named(cls, name: str) -> Wanted:
        found = _NAME.fullmatch(name)
        if not found:
            raise Mistake(
                f"'{name}' names no code table: write kind, digits x tokens, as in opq4x256 or opq4x256{SUFFIX}"
            )
        if found["kind"] not in KINDS:
            raise Mistake(f"'{name}': unknown kind of codes '{found['kind']}': {nearest(found['kind'], KINDS)}")
        return cls(found["kind"], int(found["digits"]), int(found["tokens"]), bool(found["unique"]))


def names_of_tables(listed: str) -> list[str]:
    """Names of tables with commas between them; a Mistake where one names none."""
    names = [name.strip() for name in listed.split(",") if name.strip()]
    for name in names:
        Wanted.named(name)
    return names


def fit_codes(
    kind: str,
    vectors: np.ndarray,
    train_items: np.ndarray,
    settings: Any = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Codes:
    """The codes of all items, of a tokenizer fitted on the vectors of the training items alone.

    They may collide. The table is named after what was asked for, so that recipes find it; where a small
    catalogue could fill fewer tokens, ``Codes.sizes`` says how many there are.
    """
    module = importlib.import_module(f"sprintrec.codes.{kind}")
    settings = module.Settings() if settings is None else settings
    tokenizer = module.fit(vectors, train_items, settings, seed, progress)
    digits, tokens, _ = codebooks_of(tokenizer).shape
    name = f"{kind}{settings.digits}x{settings.tokens}"
    return Codes(name, assign_codes(tokenizer, vectors), (tokens,) * digits, tokenizer)


def codes_named(
    name: str, vectors: np.ndarray, train_items: np.ndarray, seed: int = 0, progress: Progress | None = None
) -> Codes:
    """The code table of a name, ``opq4x256-unique`` say, with the other settings of its kind as they stand."""
    wanted = Wanted.named(name)
    module = importlib.import_module(f"sprintrec.codes.{wanted.kind}")
    settings = changed(module.Settings(), {"digits": wanted.digits, "tokens": wanted.tokens})
    codes = fit_codes(wanted.kind, vectors, train_items, settings, seed, progress)
    return make_unique(codes, vectors) if wanted.unique else codes
