"""Every method there is, with tiny settings, fitted on the tiny past: a new file in ``methods/`` is tested unasked."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.method import Method, Run, find_method, method_names
from sprintrec.records import HeldOut, Log, Past
from sprintrec.settings import changed
from sprintrec.split import split

TINY = tomllib.loads(Path(__file__).with_name("tiny.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session", params=method_names())
def method_class(request: pytest.FixtureRequest) -> type[Method]:
    return find_method(request.param)


@pytest.fixture(scope="session")
def fit(method_class: type[Method]) -> Callable[..., Method]:
    """Fit a new method of the class on a past."""

    def fit(past: Past, seed: int = 0) -> Method:
        method = method_class(changed(method_class.Settings(), TINY.get(method_class.name(), {})))
        return method.fit(past, run=Run(seed=seed))

    return fit


@pytest.fixture(scope="session")
def fitted(fit: Callable[..., Method], tiny_past: Past) -> Method:
    """For tests that only ask."""
    return fit(tiny_past)


@pytest.fixture(scope="session")
def questions(tiny_log: Log) -> HeldOut:
    return split(tiny_log.events, "last-out").test
