from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sprintrec.codes import Wanted, codes_named, fit_codes
from sprintrec.codes.opq import Settings
from sprintrec.errors import Mistake

VECTORS = np.random.default_rng(0).standard_normal((900, 12)).astype(np.float32)


def test_a_name_says_what_is_wanted() -> None:
    assert Wanted.named("opq4x256") == Wanted("opq", 4, 256, False)
    assert Wanted.named("rqkmeans3x64-unique") == Wanted("rqkmeans", 3, 64, True)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("opq", "as in opq4x256"),
        ("opq4x256-uniqe", "as in opq4x256"),
        ("opk4x256", "did you mean 'opq'"),
        ("opq4x100", "power of two"),
    ],
)
def test_a_wrong_name_is_a_mistake(name: str, says: str) -> None:
    with pytest.raises(Mistake, match=says):
        codes_named(name, VECTORS, np.arange(900))


def test_tables_by_name() -> None:
    plain, unique = (codes_named(name, VECTORS, np.arange(900)) for name in ("opq3x16", "opq3x16-unique"))
    assert (plain.name, unique.name) == ("opq3x16", "opq3x16-unique")
    assert plain.sizes == (16, 16, 16)
    assert len(plain.distinct()[0]) < 900
    assert len(unique.distinct()[0]) == 900


def test_the_name_stays_where_a_small_catalogue_fills_fewer_tokens() -> None:
    codes = fit_codes("opq", VECTORS[:40], np.arange(40), Settings(iterations=1))
    assert codes.name == "opq4x256"
    assert codes.sizes == (8, 8, 8, 8)


def test_kinds_are_imported_when_asked_for() -> None:
    code = "import sys, sprintrec.codes; print({'torch', 'faiss'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
