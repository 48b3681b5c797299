"""The model folder: a trained model as safetensors and JSON, to be read without torch.

    config.json           what the model is, and the SHA-256 of every other file
    model.safetensors     what the method learnt
    codes.safetensors     code table, tokens per digit, tokenizer: enough to code new items with numpy alone
    vectors.safetensors   float16 item vectors, where the method reads them
    items.jsonl.gz        per item: "item" (its id), "count" (training events), "code", "fields"
    metrics.json          the result row
    examples.jsonl.gz     some histories and what came next, without user ids; may be left out
    README.md             the same for people

No user id is in it. The version is a hash of all contents. A folder is published in one step, and reading
refuses one that was altered or holds a pickle; other files, a report say, may lie beside the model's own.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from sprintrec import __version__
from sprintrec.card import card
from sprintrec.errors import Mistake, WorkFailed
from sprintrec.prepared import refuse_to_replace, replaced
from sprintrec.records import Codes, Items, content_hash

FORMAT = 1
CONFIG, README = "config.json", "README.md"
MARK = "written_by"  # the key of config.json that tells a model of ours from other folders with such a file
STATE, CODES, VECTORS = "model.safetensors", "codes.safetensors", "vectors.safetensors"
ITEMS, METRICS, EXAMPLES = "items.jsonl.gz", "metrics.json", "examples.jsonl.gz"
NEEDED, OPTIONAL = {STATE, ITEMS, METRICS, README}, {CODES, VECTORS, EXAMPLES}
WRITTEN_HERE = {"version", "format", "written_by", "files"}  # what the folder adds to a model's config
TOKENIZER = "tokenizer."

PICKLE_SUFFIXES = {".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".bin", ".joblib", ".dill", ".npz"}
# Pickles since Python 2.3, and the archives that torch and joblib put theirs in.
PICKLE_STARTS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PK\x03\x04")

# What reading bytes that are not what they should be can end in.
UNPACKING = (FileNotFoundError, gzip.BadGzipFile, EOFError, zlib.error, SafetensorError)
DAMAGE = (*UNPACKING, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class ModelFolder:
    """A trained model as plain arrays and JSON values; rows of all arrays are the items, in their order."""

    config: Mapping[str, Any]  # method, recipe, settings, codes, texts, protocol, counts, flags, ...
    state: Mapping[str, np.ndarray]
    items: Items
    popularity: np.ndarray  # int64 training events per item
    metrics: Mapping[str, Any]
    codes: Codes | None = None
    vectors: np.ndarray | None = None
    examples: Sequence[Mapping[str, Any]] = ()  # {"history": ids, "next": id}
    version: str = ""  # known once written


def write_model(folder: str | Path, model: ModelFolder, beside: Mapping[str, str] | None = None) -> ModelFolder:
    """Publish a model in the place of what was there, and give it with its version.

    ``beside``: texts by file name that appear in the same step and are no part of the model.
    """
    folder = Path(folder)
    refuse_to_replace(folder, CONFIG, MARK)
    try:
        with replaced(folder) as draft:
            config = _write(draft, model)
            for name, text in (beside or {}).items():
                (draft / name).write_text(text, encoding="utf-8")
    except (OSError, SafetensorError) as error:  # safetensors reports a full disk as an error of its own
        kept = "what was there before is kept" if folder.is_dir() else "nothing was kept"
        raise WorkFailed(f"{folder} could not be written ({_short(error)}); {kept}") from error
    return replace(model, config=config, version=config["version"])


def _write(draft: Path, model: ModelFolder) -> dict[str, Any]:
    """All files of a model; its config, with the version, comes last."""
    _save(draft / STATE, model.state)
    if model.codes is not None:
        _save(draft / CODES, _code_arrays(model.codes))
    if model.vectors is not None:
        _save(draft / VECTORS, {"vectors": np.asarray(model.vectors, np.float16)})
    _write_lines(draft / ITEMS, _item_lines(model))
    if model.examples:
        _write_lines(draft / EXAMPLES, model.examples)
    (draft / METRICS).write_text(_text(model.metrics), encoding="utf-8")
    (draft / README).write_text(card(model.config, model.metrics, len(model.examples)), encoding="utf-8")
    config = {
        "format": FORMAT,
        "written_by": f"sprintrec {__version__}",
        **{key: value for key, value in model.config.items() if key not in WRITTEN_HERE},
        "files": {path.name: _sha256(path) for path in sorted(draft.iterdir())},
    }
    config = {"version": content_hash(_text(config)), **config}
    (draft / CONFIG).write_text(_text(config), encoding="utf-8")
    return config


def read_model(folder: str | Path) -> ModelFolder:
    """A model that is whole, unaltered and of a format that this version knows; anything else is a Mistake."""
    folder = Path(folder)
    while True:
        before = _config_bytes(folder)
        try:
            model = _read(folder, _checked_config(folder, before))
        except Mistake:
            if _config_bytes(folder) == before:
                raise
            continue
        if _config_bytes(folder) == before:
            return model
        # The folder was replaced while it was read, so its parts may be of two models: read the new one.


def _read(folder: Path, config: Mapping[str, Any]) -> ModelFolder:
    try:
        for name, expected in config["files"].items():
            _check(folder / name, expected)
        _refuse_pickles(folder, set(config["files"]))
        model = _parsed(folder, config)
    except DAMAGE as error:
        raise Mistake(f"{folder} is damaged ({_short(error)}): copy or train it again") from error
    tables = [model.vectors] + ([] if model.codes is None else [model.codes.table])
    if any(array is not None and len(array) != len(model.items) for array in tables):
        raise Mistake(f"{folder} is damaged (its tables have rows of other items than {ITEMS}): train it again")
    return model


def _parsed(folder: Path, config: Mapping[str, Any]) -> ModelFolder:
    rows = _lines(folder / ITEMS)
    return ModelFolder(
        config=config,
        state=load_file(folder / STATE),
        items=Items([row["item"] for row in rows], [row["fields"] for row in rows]),
        popularity=np.array([row["count"] for row in rows], np.int64),
        metrics=json.loads((folder / METRICS).read_bytes()),
        codes=_codes_of(config["codes"]["name"], load_file(folder / CODES)) if CODES in config["files"] else None,
        vectors=load_file(folder / VECTORS)["vectors"] if VECTORS in config["files"] else None,
        examples=_lines(folder / EXAMPLES) if EXAMPLES in config["files"] else (),
        version=config["version"],
    )


# ---- what is refused -----------------------------------------------------------------------------


def _config_bytes(folder: Path) -> bytes:
    try:
        return (folder / CONFIG).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Mistake(f"{folder} is no model folder (no {CONFIG}): make one with 'sprintrec train'") from error


def _checked_config(folder: Path, content: bytes) -> dict[str, Any]:
    """The config, if it is of our format and every byte of it is as it was written."""
    try:
        config = json.loads(content)
        written_in, listed = config["format"], set(config["files"])
        contents = {key: value for key, value in config.items() if key != "version"}
        as_written = _text(config).encode() == content and content_hash(_text(contents)) == config["version"]
    except DAMAGE as error:
        raise Mistake(f"{folder / CONFIG} is no config of a model ({_short(error)}): copy or train it again") from error
    if written_in != FORMAT:
        raise Mistake(
            f"{folder} has format {written_in}, this version reads {FORMAT}: "
            "train it again, or install the sprintrec that wrote it"
        )
    if not as_written:
        raise Mistake(f"{folder / CONFIG} was altered since the model was written: copy or train it again")
    if not NEEDED <= listed <= NEEDED | OPTIONAL:
        raise Mistake(f"{folder} lists other files than a model has ({', '.join(sorted(listed))}): train it again")
    return config


def _check(path: Path, expected: str) -> None:
    if not path.is_file():
        raise Mistake(f"{path.parent} lacks {path.name}: it was not copied whole, copy or train it again")
    if _sha256(path) != expected:
        raise Mistake(f"{path} was altered since the model was written: copy or train it again")


def _refuse_pickles(folder: Path, own: set[str]) -> None:
    """Nothing of ours would load one, but whoever puts one here means it to be loaded."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.relative_to(folder).as_posix() in own:
            continue
        with path.open("rb") as file:
            start = file.read(4)
        if path.suffix.lower() in PICKLE_SUFFIXES or start.startswith(PICKLE_STARTS):
            raise Mistake(
                f"{path} may be a pickle, which can run any code when it is loaded, and models hold none: "
                "delete it if you trust where this folder comes from"
            )


# ---- arrays and lines ----------------------------------------------------------------------------


def _save(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    # Safetensors writes memory as it lies there: of a transposed array that is another array.
    save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, path)
    path.chmod(0o644)  # safetensors lets the owner alone read it, and a service may be somebody else


def _code_arrays(codes: Codes) -> dict[str, np.ndarray]:
    tokenizer = {f"{TOKENIZER}{name}": np.asarray(array) for name, array in codes.tokenizer.items()}
    return {"table": codes.table.astype(np.int32), "sizes": np.array(codes.sizes, np.int32), **tokenizer}


def _codes_of(name: str, arrays: Mapping[str, np.ndarray]) -> Codes:
    tokenizer = {key.removeprefix(TOKENIZER): array for key, array in arrays.items() if key.startswith(TOKENIZER)}
    return Codes(name, arrays["table"], tuple(arrays["sizes"].tolist()), tokenizer)


def _item_lines(model: ModelFolder) -> Iterable[dict[str, Any]]:
    codes = model.codes.table.tolist() if model.codes is not None else [None] * len(model.items)
    counts = model.popularity.tolist()
    for item, fields, count, code in zip(model.items.ids, model.items.fields, counts, codes, strict=True):
        yield {"item": item, "count": count, "code": code, "fields": dict(fields)}


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    # Without name and time in the header, so that the same model has the same bytes.
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        for row in rows:
            packed.write(json.dumps(dict(row), ensure_ascii=False, allow_nan=False).encode() + b"\n")


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rb") as lines:
        return [json.loads(line) for line in lines]


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _short(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__
