"""Item fields to one text to vectors; where items have no text, vectors from what is used together.

A source of vectors is said in one word:

    auto                         text where at least half of the items have some, else cooccurrence
    minilm                       the text through MiniLM, from its package
    sentence-transformers:NAME   the text through any encoder of that library, by name or folder
    a file                       vectors of one's own (see own.py); a folder: an encoder
    cooccurrence                 what is used together in the training events, no text
    text+cooccurrence            MiniLM and cooccurrence side by side
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sprintrec.errors import Mistake, nearest
from sprintrec.records import Histories, Items, content_hash
from sprintrec.texts import template

AND_TOGETHER = "+cooccurrence"
LIBRARY = "sentence-transformers:"
WORDS = ("auto", "minilm", "cooccurrence", "text+cooccurrence", f"{LIBRARY}NAME")
ENOUGH_TEXT = 0.5  # of the items, for text to be chosen by itself
COOCCURRENCE_SHARE = 0.5  # of the cosine, where text and co-occurrence are joined

Progress = Callable[[int, int], None]


def vectors_for(
    items: Items, source: str = "auto", events: Histories | None = None, progress: Progress | None = None
) -> tuple[np.ndarray, dict[str, Any]]:
    """Vectors, float32 [items, d], and what to remember of them; zeros where an item has nothing to go by.

    ``events`` must be training events alone. ``about["encoder"]`` says where the vectors come from,
    ``about["note"]`` in a sentence what was decided.
    """
    if source == "auto":
        vectors, about = _chosen(items, events, progress)
    elif source == "cooccurrence":
        vectors, about = _cooccurrence(items, events, progress)
    elif source == "text+cooccurrence":
        vectors, about = _joined(items, events, progress)
    elif source == "minilm" or source.startswith(LIBRARY) or Path(source).is_dir():
        vectors, about = _text(items, source if _is_encoder(source) else f"{LIBRARY}{source}", progress)
    else:
        vectors, about = _own(items, Path(source))
    hashed = content_hash(np.ascontiguousarray(vectors, np.float16))
    return vectors, {**about, "dimensions": vectors.shape[1], "hash": hashed}


def encode(encoder: str, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
    """Vectors of texts by an encoder as ``about["encoder"]`` names it; zeros for empty texts."""
    encoder = encoder.removesuffix(AND_TOGETHER)
    filled = [row for row, text in enumerate(texts) if text]
    if not filled:
        return np.zeros((len(texts), 0), np.float32)
    if encoder == "minilm":
        from sprintrec.texts import minilm

        found = minilm.encode([texts[row] for row in filled], progress)
    elif _is_encoder(encoder):
        from sprintrec.texts import named_encoder

        found = named_encoder.encode(encoder.removeprefix(LIBRARY), [texts[row] for row in filled], progress)
    else:
        raise ValueError(f"{encoder} encodes no text")
    vectors = np.zeros((len(texts), found.shape[1]), np.float32)
    vectors[filled] = found
    return vectors


def new_item_vectors(fields: Sequence[Mapping[str, object]], about: Mapping[str, Any]) -> np.ndarray:
    """Vectors of items that came later, from their fields; their part by co-occurrence is not known yet."""
    if about.get("template") != template.NAME:
        raise Mistake("items of this model can't be added by their text: give the new item's vector")
    vectors = encode(about["encoder"], [template.text_of(one) for one in fields]) * np.float32(about["text_scale"])
    return np.pad(vectors, ((0, 0), (0, about["dimensions"] - vectors.shape[1])))


def _chosen(items: Items, events: Histories | None, progress: Progress | None) -> tuple[np.ndarray, dict[str, Any]]:
    share = sum(map(bool, template.item_texts(items))) / max(len(items), 1)
    if share >= ENOUGH_TEXT:
        return _text(items, "minilm", progress)
    vectors, about = _cooccurrence(items, events, progress)
    reason = "No item has text" if not share else f"Only {share:.0%} of the items have text"
    return vectors, {**about, "note": f"{reason}, so vectors come from what is used together. {about['note']}"}


def _text(items: Items, encoder: str, progress: Progress | None) -> tuple[np.ndarray, dict[str, Any]]:
    from sprintrec.texts.cache import cached_vectors

    texts = template.item_texts(items)
    if not any(texts):
        raise Mistake("no item has text: use --texts cooccurrence, or give an item list with titles")
    vectors = cached_vectors(_identity(encoder), texts, lambda: encode(encoder, texts, progress))
    note = f"Item texts encoded by {encoder}{_but(vectors, 'have no text')}."
    return vectors, {"encoder": encoder, "template": template.NAME, "text_scale": 1.0, "note": note}


def _cooccurrence(
    items: Items, events: Histories | None, progress: Progress | None
) -> tuple[np.ndarray, dict[str, Any]]:
    from sprintrec.texts import cooccurrence

    if events is None:
        raise Mistake("vectors by co-occurrence need the training events")
    vectors = cooccurrence.cooccurrence_vectors(events, len(items), progress=progress)
    note = f"Item vectors from training events at most {cooccurrence.WINDOW} apart"
    return vectors, {"encoder": "cooccurrence", "note": f"{note}{_but(vectors, 'never occur beside another')}."}


def _joined(items: Items, events: Histories | None, progress: Progress | None) -> tuple[np.ndarray, dict[str, Any]]:
    text, about = _text(items, "minilm", progress)
    together, other = _cooccurrence(items, events, progress)
    # Weighed so that the cosine of two items is the mean of their two cosines.
    weights = np.sqrt([1 - COOCCURRENCE_SHARE, COOCCURRENCE_SHARE]).astype(np.float32)
    vectors = np.concatenate([weights[0] * text, weights[1] * together], axis=1)
    changed = {"encoder": about["encoder"] + AND_TOGETHER, "text_scale": float(weights[0])}
    return vectors, {**about, **changed, "note": f"{about['note']} {other['note']} Both side by side."}


def _own(items: Items, path: Path) -> tuple[np.ndarray, dict[str, Any]]:
    from sprintrec.texts.own import SUFFIXES, read_vectors

    if path.suffix not in SUFFIXES:
        raise Mistake(f"'{path}' is no source of item vectors: {nearest(str(path), WORDS)}")
    vectors = read_vectors(path, items.ids)
    return vectors, {
        "encoder": f"own:{path.name}",
        "note": f"Item vectors from {path.name}{_but(vectors, 'are not in it')}.",
    }


def _is_encoder(source: str) -> bool:
    return source == "minilm" or source.startswith(LIBRARY)


def _identity(encoder: str) -> str:
    if encoder == "minilm":
        return encoder
    from sprintrec.texts import named_encoder

    return LIBRARY + named_encoder.identity(encoder.removeprefix(LIBRARY))


def _but(vectors: np.ndarray, why: str) -> str:
    without = int((~vectors.any(axis=1)).sum())
    return f"; {without:,} of {len(vectors):,} items {why}" if without else ""
