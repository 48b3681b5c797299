"""Verbs and options grow only on purpose: ``flags.txt`` beside this file lists every one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from sprintrec.cli import build, existing_verbs

LIST = Path(__file__).with_name("flags.txt")
REGENERATE = ".venv/bin/python tests/shape/test_flags.py"


def flags() -> list[str]:
    """One line per verb: its arguments in order, then its options."""
    return [line for verb in existing_verbs() for line in described(command_of(verb), verb)]


def command_of(verb: str) -> Any:
    return typer.main.get_command(build(verb)).commands[verb]


def described(command: Any, path: str) -> Iterator[str]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from described(inner, f"{path} {name}")
    if not hasattr(command, "commands"):
        arguments = [param.name.upper() for param in command.params if param.param_type_name == "argument"]
        options = ["/".join(param.opts + param.secondary_opts) for param in command.params if param.opts[0][0] == "-"]
        yield " ".join([path, *arguments, *sorted(options)])


def test_the_list_of_flags_is_the_committed_one() -> None:
    assert LIST.read_text().splitlines() == flags(), f"if this is meant, type: {REGENERATE}"


def test_every_verb_answers_as_json() -> None:
    lacking = [line for line in flags() if "--json" not in line.split()]
    assert lacking == []


def test_every_option_says_what_it_does() -> None:
    commands = [(verb, command_of(verb)) for verb in existing_verbs()]
    leaves = [leaf for verb, command in commands for leaf in getattr(command, "commands", {verb: command}).items()]
    silent = [f"{verb} {param.name}" for verb, leaf in leaves for param in leaf.params if not param.help]
    assert silent == []


if __name__ == "__main__":
    LIST.write_text("\n".join(flags()) + "\n")
