"""Settings go to plain mappings and back; whatever is misspelt or of the wrong kind is refused by name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sprintrec.errors import Mistake
from sprintrec.settings import changed, parsed, read, to_mapping


@dataclass(frozen=True)
class Network:
    width: int = 64
    dropout: float = 0.1
    kernel: int | None = None


@dataclass(frozen=True)
class Loss:
    temperature: float = 0.07
    weights: tuple[float, ...] = (1.0, 0.5)
    levels: Literal["both", "token", "sid"] = "both"


@dataclass(frozen=True)
class Settings:
    network: Network = field(default_factory=Network)
    loss: Loss = field(default_factory=Loss)
    name: str = "sprint"
    bias: bool = True
    width: int = 8


settings_objects = st.builds(
    Settings,
    network=st.builds(
        Network,
        width=st.integers(1, 512),
        dropout=st.floats(0, 1),
        kernel=st.none() | st.integers(1, 9),
    ),
    loss=st.builds(
        Loss,
        temperature=st.floats(0.01, 1),
        weights=st.lists(st.floats(0, 1), max_size=3).map(tuple),
        levels=st.sampled_from(["both", "token", "sid"]),
    ),
    name=st.text(),
    bias=st.booleans(),
    width=st.integers(),
)


@given(settings_objects)
def test_to_json_and_back_is_the_same(settings: Settings) -> None:
    assert read(Settings, json.loads(json.dumps(to_mapping(settings)))) == settings


def test_what_is_not_named_keeps_its_default() -> None:
    assert read(Settings, {}) == Settings()
    assert read(Settings, {"network": {"width": 8}}) == Settings(network=Network(width=8))


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"netwrk": {}}, "unknown setting 'netwrk': did you mean 'network'?"),
        ({"network": {"widht": 8}}, "unknown setting 'network.widht': did you mean 'width'?"),
        ({"loss": {"zzz": 1}}, "unknown setting 'loss.zzz': known are levels, temperature, weights"),
        ({"network": 8}, "setting 'network' is a group of settings, not 8"),
        ({"network": {"width": 8.5}}, "setting 'network.width' must be of kind int, not 8.5"),
        ({"network": {"width": "8"}}, "setting 'network.width' must be of kind int, not '8'"),
        ({"network": {"width": True}}, "setting 'network.width' must be of kind int, not True"),
        ({"network": {"width": None}}, "setting 'network.width' must be of kind int, not None"),
        ({"network": {"kernel": "3"}}, "setting 'network.kernel' must be of kind int, not '3'"),
        ({"bias": 1}, "setting 'bias' must be of kind bool, not 1"),
        ({"loss": {"temperature": False}}, "setting 'loss.temperature' must be of kind float, not False"),
        ({"loss": {"weights": [1, "a"]}}, "setting 'loss.weights' must be of kind float, not 'a'"),
        ({"loss": {"levels": "tokens"}}, "setting 'loss.levels' is 'tokens': did you mean 'token'?"),
    ],
)
def test_what_is_wrong_is_named(mapping: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Mistake) as caught:
        read(Settings, mapping)
    assert str(caught.value) == sentence


def test_a_whole_number_serves_as_a_float_and_one_value_as_a_tuple() -> None:
    loss = read(Loss, {"temperature": 1, "weights": 2})
    assert loss == Loss(temperature=1.0, weights=(2.0,))
    assert isinstance(loss.temperature, float)


def test_a_change_takes_a_path_or_a_unique_last_part() -> None:
    assert changed(Settings(), {"loss.temperature": 0.2}).loss.temperature == 0.2
    assert changed(Settings(), {"temperature": 0.2, "dropout": 0}) == Settings(
        network=Network(dropout=0.0), loss=Loss(temperature=0.2)
    )


def test_a_full_path_wins_over_a_last_part() -> None:
    assert changed(Settings(), {"width": 3}) == Settings(width=3)
    assert changed(Settings(), {"network.width": 3}) == Settings(network=Network(width=3))


def test_a_change_leaves_the_original_alone() -> None:
    before = Settings()
    changed(before, {"temperature": 0.2})
    assert before == Settings()


def test_an_unknown_or_ambiguous_change_is_refused() -> None:
    @dataclass(frozen=True)
    class Twice:
        first: Network = field(default_factory=Network)
        second: Network = field(default_factory=Network)

    Twice.__annotations__.update(first=Network, second=Network)
    with pytest.raises(Mistake, match=r"'width' is ambiguous: first\.width, second\.width"):
        changed(Twice(), {"width": 3})
    with pytest.raises(Mistake, match=r"unknown setting 'temprature': did you mean 'temperature'\?"):
        changed(Settings(), {"temprature": 0.2})
    with pytest.raises(Mistake, match="must be of kind int"):
        changed(Settings(), {"network.width": "wide"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("1e-3", 0.001),
        ("true", True),
        ("False", False),
        ("none", None),
        ("gelu", "gelu"),
        ("1,2.5,x", [1, 2.5, "x"]),
        ("4,", [4]),
        ("", ""),
    ],
)
def test_a_typed_value_is_what_it_looks_like(text: str, value: object) -> None:
    found = parsed(text)
    assert found == value
    assert type(found) is type(value)
