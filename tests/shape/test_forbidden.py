"""Nothing in the package runs code out of a file or a string: no pickle, no eval, no exec."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "sprintrec"
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
# The one data file that exists as a pickle alone: read by a restricted reader, after its hash was checked.
PICKLE_READERS = {"datasets/movielens_small.py"}


def forbidden(file: Path, may_unpickle: bool = False) -> Iterator[str]:
    """One line per forbidden import or call of a file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not may_unpickle:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"{node.lineno}: imports {name}" for name in names if name.split(".")[0] in MODULES)
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            keywords = {word.arg: ast.unparse(word.value) for word in node.keywords}
            if called in ("eval", "exec", "compile", "__import__"):
                yield f"{node.lineno}: calls {called}"
            if called == "torch.load" and keywords.get("weights_only") != "True":
                yield f"{node.lineno}: torch.load without weights_only=True"
            if called in ("np.load", "numpy.load") and keywords.get("allow_pickle") != "False":
                yield f"{node.lineno}: np.load without allow_pickle=False"


def test_the_package_runs_no_code_from_files() -> None:
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    found = {name: list(forbidden(file, name in PICKLE_READERS)) for name, file in files.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from joblib import load",
        "eval('1')",
        "torch.load('weights')",
        "torch.load('weights', weights_only=False)",
        "np.load('array.npy')",
        "np.load('array.npy', allow_pickle=True)",
    ],
)
def test_each_of_them_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "file.py").write_text(text)
    assert len(list(forbidden(tmp_path / "file.py"))) == 1


def test_a_network_may_be_set_to_evaluation(tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text("network.eval()\ntorch.load('weights', weights_only=True)")
    assert list(forbidden(tmp_path / "file.py")) == []
