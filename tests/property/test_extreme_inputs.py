"""Extreme but finite weights, class weights, targets and values: a message, or a finite answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "support" / "extreme_inputs.py"
# Seconds; 250 fits take two. A node that is searched for ever outlasts any.
LIMIT = 120


def test_extreme_numbers_are_refused_or_give_finite_normalised_predictions() -> None:
    command = [sys.executable, str(SCRIPT), "0", "250"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert run.returncode == 0, run.stdout[-1000:] + run.stderr[-2000:]
