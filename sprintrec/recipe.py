"""A recipe: which method, on which code table, with which settings; one TOML file each in ``recipes/``.

    method = "sprint"
    codes = "opq4x256-unique"      # the code table it is trained on; left out where a method has none
    [network]                      # groups and keys of the method's settings; what is left out keeps
    width = 128                    # its default

A changed setting changes the recipe's name, so that a result always says what made it.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sprintrec import settings as setting_files
from sprintrec.errors import Mistake, nearest
from sprintrec.method import Method, find_method, method_names

FOLDER = Path(__file__).resolve().parent / "recipes"


@dataclass(frozen=True)
class Recipe:
    name: str
    method: str
    settings: Any
    codes: str | None = None

    def new_method(self) -> Method:
        return find_method(self.method)(self.settings)


def recipe_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find_recipe(name: str, changes: Mapping[str, Any] | None = None) -> Recipe:
    """A recipe by name, by path of a TOML file, or by a method's name for its defaults; then changed."""
    recipe = _read(name)
    return with_changes(recipe, changes) if changes else recipe


def with_changes(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """The recipe with other values; ``codes`` is one of them. Its name tells all of them."""
    rest = {key: value for key, value in changes.items() if key != "codes"}
    codes = str(changes["codes"]) if "codes" in changes else recipe.codes
    settings = setting_files.changed(recipe.settings, rest)
    named = {setting_files.short_name(recipe.settings, key): value for key, value in changes.items()}
    shown = [f"{name}={_word(value)}" for name, value in sorted(named.items())]
    return Recipe("+".join([recipe.name, *shown]), recipe.method, settings, codes)


def _read(name: str) -> Recipe:
    path, known = FOLDER / f"{name}.toml", recipe_names() + method_names()
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise Mistake(f"there is no file {path}: give a recipe's file or name")
        if path.stem in known and path.resolve().parent != FOLDER:
            raise Mistake(f"{path}: '{path.stem}' is the name of a recipe of the package: rename the file")
    elif not path.is_file():
        if name in method_names():
            return Recipe(name, name, find_method(name).Settings())
        raise Mistake(f"unknown recipe '{name}': {nearest(name, known)}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Mistake(f"{path} is no valid TOML: {error}") from error
    if "method" not in content:
        raise Mistake(f'{path} does not say which method it is for: add a line method = "sprint"')
    method, codes = content.pop("method"), content.pop("codes", None)
    if codes is not None and not isinstance(codes, str):
        raise Mistake(f"{path}: codes names a code table, it can't be {codes!r}")
    method_class = find_method(method)
    kinds = [field.name for field in dataclasses.fields(method_class.Settings)]
    unknown = [key for key in content if key not in kinds]
    if unknown:
        raise Mistake(f"{path}: unknown setting '{unknown[0]}': {nearest(unknown[0], kinds)}")
    return Recipe(path.stem, method, _over_defaults(method_class.Settings, content), codes)


def _over_defaults(settings_class: type, content: Mapping[str, Any]) -> Any:
    """Settings whose groups keep their own defaults where the recipe is silent."""
    plain = setting_files.to_mapping(settings_class())
    for key, value in content.items():
        if isinstance(value, Mapping) and isinstance(plain.get(key), dict):
            plain[key] = {**plain[key], **value}
        else:
            plain[key] = value
    return setting_files.read(settings_class, plain)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(_word, value)) if isinstance(value, (list, tuple)) else str(value)
