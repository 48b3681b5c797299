"""The model card: what a model is, what it was made from, how good it is, and what it is not for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

READINGS = {
    "item": "per item, seen items excluded",
    "item_seen_kept": "per item, seen items kept",
    "code": "per code, nothing excluded",
}
CUTS = (5, 10, 20)
PROTOCOLS = {
    "last-out": "of every user the last event is the test answer, the one before it the validation answer; "
    "other users' later events are trained on, which no live system could do",
    "time": "two moments cut the whole log; each user active after the second is asked once, for the last event",
}


def card(config: Mapping[str, Any], row: Mapping[str, Any], examples: int) -> str:
    """The card in Markdown, from a model's config and its result row."""
    return "\n".join([*_opening(config), *_facts(config), *_figures(row), *_use(config), *_limits(config, examples)])


def _opening(config: Mapping[str, Any]) -> Iterator[str]:
    counts = config["counts"]
    yield f"# {config['dataset']}: {config['method']}\n"
    yield (
        f"Given the items that somebody used, oldest first, this model ranks the {counts['items']:,} items of its "
        f"catalogue by how likely each comes next.\n"
    )


def _facts(config: Mapping[str, Any]) -> Iterator[str]:
    counts, codes, texts = config["counts"], config["codes"], config["texts"]
    protocol = config["protocol"]
    yield "| | |\n|---|---|"
    yield f"| method, recipe | {config['method']}, {config['recipe']} (settings in config.json) |"
    yield f"| parameters | {config['parameters']:,} |"
    yield f"| log | {counts['users']:,} users, {counts['items']:,} items, {counts['events']:,} events |"
    yield f"| trained on | {counts['training_events']:,} of these events |"
    yield f"| held out | {protocol}: {PROTOCOLS.get(protocol, 'see docs/protocol.md')} |"
    if codes is not None:
        yield f"| codes | {codes['name']}, {codes['distinct']:,} distinct for {codes['items']:,} items |"
    if texts is not None:
        yield f"| item vectors | {texts.get('encoder') or 'not from a text encoder'} |"
    yield f"| data hash | {config['data_hash']} |\n"


def _figures(row: Mapping[str, Any]) -> Iterator[str]:
    """The test figures with their 95 % intervals, one line per reading and metric."""
    yield "## How good it is\n"
    asked = row["questions"]["test"]
    yield f"One question each to {asked:,} users, full ranking; in brackets 95 % intervals over users.\n"
    yield f"| {' | '.join(['', *(f'@{cut}' for cut in CUTS)])} |"
    yield "|---" * (len(CUTS) + 1) + "|"
    for reading, words in READINGS.items():
        for metric in ("recall", "ndcg"):
            if row[reading] is not None:
                cells = [_figure(row, reading, f"{metric}@{cut}") for cut in CUTS]
                yield f"| {' | '.join([f'{metric} {words}', *cells])} |"
    yield ""


def _figure(row: Mapping[str, Any], reading: str, metric: str) -> str:
    low, high = row["intervals"][reading][metric]
    return f"{row[reading][metric]:.4f} ({low:.4f} to {high:.4f})"


def _use(config: Mapping[str, Any]) -> Iterator[str]:
    yield "## How to use it\n"
    yield "```python\nfrom sprintrec import Recommender\n"
    yield "model = Recommender.load(FOLDER)\nmodel.recommend([[ITEM, ITEM, ITEM]], k=10)\n```\n"
    yield "On the command line: `sprintrec recommend FOLDER --history ITEM,ITEM,ITEM`."
    yield "Reading it runs no code from it; a folder that was altered is refused.\n"


def _limits(config: Mapping[str, Any], examples: int) -> Iterator[str]:
    cold = "are ranked by their codes" if config["flags"]["ranks_cold_items"] else "mean nothing to it"
    yield "## Intended use and limits\n"
    yield "* For suggesting items to people from their own past; not for decisions about people."
    yield "* It knows what happened up to the end of its log and no later item; train it again on newer events."
    yield f"* Items of the catalogue without training events {cold}."
    yield "* Unknown items of a history are skipped and listed; an empty history gets popular items, which is said."
    yield "* The figures say how often the one item that came next was listed, not whether people liked the list."
    kept = f"{examples:,} histories without user ids are in examples.jsonl.gz" if examples else "no history is in it"
    yield f"* No user id is in this folder; {kept}.\n"
