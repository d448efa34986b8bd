"""What a campaign remembers: where it is, what it counted, and its findings."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .verdicts import Finding

EXAMPLES = 3  # kept of each signature


@dataclass
class Tally:
    """Counts of one kind of cases."""

    next: int = 0
    pending: list[list[int]] = field(default_factory=list)  # ranges that were begun
    done: int = 0
    refused: int = 0
    accepted: int = 0
    findings: Counter[str] = field(default_factory=Counter)  # by signature
    slowest: float = 0.0
    slowest_number: int = -1
    largest: float = 0.0
    largest_number: int = -1
    seconds: float = 0.0  # of all workers

    def add(self, board: dict[str, float]) -> None:
        """Add what a worker has counted."""
        for name in ("done", "refused", "accepted"):
            setattr(self, name, getattr(self, name) + int(board[name]))
        for name in ("slowest", "largest"):
            if board[name] > getattr(self, name):
                setattr(self, name, board[name])
                setattr(self, f"{name}_number", int(board[f"{name}_number"]))


class Store:
    """A folder with the state of a campaign and its findings.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "findings").mkdir(parents=True, exist_ok=True)
        self._state = folder / "state.json"
        self.tallies: dict[str, Tally] = {}
        if self._state.exists():
            for name, values in json.loads(self._state.read_text()).items():
                values["findings"] = Counter(values["findings"])
                self.tallies[name] = Tally(**values)

    def tally(self, cases: str) -> Tally:
        """Counts of one kind of cases."""
        return self.tallies.setdefault(cases, Tally())

    def save(self) -> None:
        """Write the state, whole or not at all."""
        new = self._state.with_suffix(".tmp")
        new.write_text(json.dumps({n: vars(t) for n, t in self.tallies.items()}, indent=1))
        new.replace(self._state)

    def count(self, finding: Finding) -> bool:
        """Count a finding; whether it is to be kept as an example of its signature."""
        findings = self.tally(finding.cases).findings
        findings[finding.signature] += 1
        return findings[finding.signature] <= EXAMPLES

    def keep(self, finding: Finding) -> Path:
        """Write an example: a page of JSON, and the file itself for files."""
        stem = re.sub(r"[^A-Za-z0-9]+", "-", finding.signature)[:60].strip("-").lower()
        path = self.folder / "findings" / f"{finding.cases}-{stem}-{finding.number}.json"
        page = finding.to_dict()
        data = base64.b64decode(page.pop("data"))
        if data:
            path.with_suffix(".bevel").write_bytes(data)
        path.write_text(json.dumps(page, indent=1) + "\n")
        return path

    def examples(self) -> list[dict[str, Any]]:
        """The findings that were kept."""
        pages = sorted((self.folder / "findings").glob("*.json"))
        return [json.loads(page.read_text()) for page in pages]
