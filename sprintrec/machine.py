"""The machine this runs on, as far as the standard library can tell: cores, memory, graphics cards."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_bytes() -> int | None:
    """Memory of the whole machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def peak_memory_bytes() -> int:
    """The most memory this process has held so far."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # Linux counts kilobytes


def processor() -> str:
    """The processor's own name where the system tells it, else its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def graphics_cards() -> list[str]:
    """Names of NVIDIA cards, as their driver lists them: torch built for the CPU cannot see them."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        query = [program, "--query-gpu=name", "--format=csv,noheader"]
        answer = subprocess.run(query, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in answer.stdout.splitlines() if line.strip()] if answer.returncode == 0 else []
