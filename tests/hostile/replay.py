"""Runs kept cases again: those of a store's findings, and those in `cases/` that were mended."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .worker_process import WorkerProcess, run_alone

KEPT = Path(__file__).parent / "cases"


def kept_cases(folder: Path = KEPT) -> list[Path]:
    """Pages of JSON, each with what a case is made of."""
    return sorted(folder.glob("*.json"))


def replay(pages: Iterable[Path]) -> dict[Path, str]:
    """Run cases in a worker; what became of each."""
    outcomes = {}
    with tempfile.TemporaryDirectory(prefix="bevel-replay-") as folder:
        worker = WorkerProcess(Path(folder), "replay")
        try:
            for page in pages:
                answers, end = run_alone(worker, _task(page))
                outcomes[page] = end or _outcome(answers)
        finally:
            worker.kill()
    return outcomes


def _task(page: Path) -> dict[str, Any]:
    kept = json.loads(page.read_text())
    case = kept["case"]
    file = page.with_suffix(".bevel")
    if file.exists():
        data = base64.b64encode(file.read_bytes()).decode("ascii")
        case = {"data": data, "description": kept["description"]}
        case["source"] = kept["description"].partition(":")[0]
    return {"cases": kept["cases"], "check": case}


def _outcome(answers: list[dict[str, Any]]) -> str:
    told = next(answer for answer in answers if "outcome" in answer)
    return told["finding"]["signature"] if told["finding"] else told["outcome"]
