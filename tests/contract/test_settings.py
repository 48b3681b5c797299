"""What the settings of every method hold to."""

from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path

import pytest

from sprintrec.errors import Mistake
from sprintrec.method import Method
from sprintrec.settings import changed, read, to_mapping

GOLDEN = Path(__file__).parents[1] / "golden"


def described(settings_class: type) -> set[str]:
    """The fields that a string follows, in the class and in those it derives from."""
    names = set()
    for cls in settings_class.__mro__[:-1]:
        body = ast.parse(inspect.getsource(cls)).body[0].body  # type: ignore[attr-defined]
        for line, following in zip(body, body[1:], strict=False):
            if isinstance(line, ast.AnnAssign) and isinstance(following, ast.Expr):
                names.add(ast.unparse(line.target))
    return names


def test_defaults_build(method_class: type[Method]) -> None:
    assert method_class().settings == method_class.Settings()


def test_settings_survive_a_recipe(method_class: type[Method]) -> None:
    settings = method_class.Settings()
    assert read(method_class.Settings, to_mapping(settings)) == settings


def test_an_unknown_setting_is_a_mistake(method_class: type[Method]) -> None:
    with pytest.raises(Mistake, match="unknown setting 'no_such_setting'"):
        read(method_class.Settings, {"no_such_setting": 1})
    with pytest.raises(Mistake, match="unknown setting 'no_such_setting'"):
        changed(method_class.Settings(), {"no_such_setting": 1})


def test_settings_are_frozen(method_class: type[Method]) -> None:
    settings = method_class.Settings()
    with pytest.raises(FrozenInstanceError):
        setattr(settings, fields(settings)[0].name, None)


def test_every_setting_says_what_it_does(method_class: type[Method]) -> None:
    settings = method_class.Settings()
    plain = {field.name for field in fields(settings) if not is_dataclass(getattr(settings, field.name))}
    assert plain - described(method_class.Settings) == set()


def test_the_file_opens_with_what_it_is_and_where_it_comes_from(method_class: type[Method]) -> None:
    about = sys.modules[method_class.__module__].__doc__ or ""
    assert len(about.splitlines()[0]) <= 120
    assert "Source:" in about
    assert "eparture" in about


def test_a_closed_form_has_an_answer_worked_by_hand(method_class: type[Method]) -> None:
    assert method_class.trained_by_gradient or (GOLDEN / f"test_{method_class.name()}.py").is_file()
