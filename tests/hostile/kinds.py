"""The kinds of cases: how a number becomes a case, and how a case is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import file_cases, input_cases, planted


@dataclass(frozen=True)
class Kind:
    """One kind of cases."""

    make: Callable[[int], Any]
    check: Callable[[Any], str]
    given: Callable[[Any], Any]


KINDS = {
    "files": Kind(file_cases.make, file_cases.check, file_cases.given),
    "inputs": Kind(input_cases.make, input_cases.check, input_cases.given),
    "planted": Kind(planted.make, planted.check, planted.given),
}
