"""Settings are frozen dataclasses; this file reads them from plain mappings and changes single ones.

A default stands once, in its dataclass. Recipes (TOML) and the command line go through here, so an
unknown key is an error that names the nearest one, and a value of the wrong type is an error too.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from sprintrec.errors import Mistake, nearest

S = TypeVar("S")


def read(cls: type[S], mapping: Mapping[str, Any], where: str = "") -> S:
    """A settings object from a mapping; nested dataclasses are nested mappings."""
    kinds = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for key, value in mapping.items():
        if key not in kinds:
            raise Mistake(f"unknown setting '{where}{key}': {nearest(key, kinds)}")
        values[key] = _checked(kinds[key], value, f"{where}{key}")
    return cls(**values)


def to_mapping(settings: Any) -> dict[str, Any]:
    """The plain, JSON-ready form of a settings object; ``read`` gives the object back."""
    plain = dataclasses.asdict(settings)
    return typing.cast(dict[str, Any], _tuples_to_lists(plain))


def changed(settings: S, changes: Mapping[str, Any]) -> S:
    """The settings with some values replaced; a key is a dotted path, or its last part where that is unique."""
    plain = to_mapping(settings)
    paths = list(_paths(plain))
    for key, value in changes.items():
        found = [path for path in paths if path == key or path.endswith(f".{key}")]
        if len(found) > 1 and key not in found:
            raise Mistake(f"setting '{key}' is ambiguous: {', '.join(found)}")
        if not found:
            raise Mistake(f"unknown setting '{key}': {nearest(key, paths + [p.rsplit('.', 1)[-1] for p in paths])}")
        *parents, leaf = (key if key in found else found[0]).split(".")
        target = plain
        for parent in parents:
            target = target[parent]
        target[leaf] = value
    return read(type(settings), plain)


def at_least(settings: Any, **least: float) -> None:
    """Refuse settings below what makes sense; for ``__post_init__``."""
    for name, bound in least.items():
        if getattr(settings, name) < bound:
            raise Mistake(f"setting '{name}' must be at least {bound:g}, not {getattr(settings, name):g}")


def shares(settings: Any, *names: str) -> None:
    """Refuse settings that are no share between 0 and 1."""
    for name in names:
        if not 0 <= getattr(settings, name) <= 1:
            raise Mistake(f"setting '{name}' must lie between 0 and 1, not {getattr(settings, name):g}")


def divides(settings: Any, part: str, whole: str) -> None:
    """Refuse a setting that is no multiple of another."""
    if getattr(settings, whole) % getattr(settings, part):
        found = f"{getattr(settings, whole)} and {getattr(settings, part)}"
        raise Mistake(f"setting '{whole}' must be a multiple of '{part}', not {found}")


def short_name(settings: Any, key: str) -> str:
    """The last part of a setting's path where no other setting ends alike, else the whole path."""
    paths = list(_paths(to_mapping(settings)))
    whole = key if key in paths else next((path for path in paths if path.endswith(f".{key}")), key)
    last = whole.rsplit(".", 1)[-1]
    return last if sum(path.rsplit(".", 1)[-1] == last for path in paths) == 1 else whole


def parsed(text: str) -> Any:
    """A value typed on a command line: a number, true, false, none, a comma list, or the word itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    if "," in text:
        return [parsed(part) for part in text.split(",") if part]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _paths(plain: Mapping[str, Any], prefix: str = "") -> typing.Iterator[str]:
    for key, value in plain.items():
        if isinstance(value, Mapping):
            yield from _paths(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _tuples_to_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples_to_lists(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_tuples_to_lists(part) for part in value]
    return value


def _checked(kind: Any, value: Any, where: str) -> Any:
    """The value as its declared kind, or a Mistake that names the setting."""
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise Mistake(f"setting '{where}' is a group of settings, not {value!r}")
        return read(typing.cast(type, kind), value, f"{where}.")
    origin, options = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in options:
            return None
        return _checked(next(option for option in options if option is not type(None)), value, where)
    if origin is typing.Literal:
        if value not in options:
            raise Mistake(f"setting '{where}' is {value!r}: {nearest(str(value), map(str, options))}")
        return value
    if origin is tuple:
        parts = value if isinstance(value, (list, tuple)) else [value]
        return tuple(_checked(options[0], part, where) for part in parts)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise Mistake(f"setting '{where}' must be of kind {kind.__name__}, not {value!r}")
    return value
