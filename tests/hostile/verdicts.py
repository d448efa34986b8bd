"""What can become of a case."""

from __future__ import annotations

import re
import traceback
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

REFUSED, ACCEPTED = "refused", "accepted"
FINDINGS = ("crash", "hang", "memory", "exception", "answer", "differs")


class WrongAnswerError(Exception):
    """An estimator gave an answer that it must not give.

    Parameters
    ----------
    kind : {"answer", "differs"}
        Whether the answer is wrong by itself, or differs from another that must be equal.
    what : str
        Which answer, and how.
    """

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind = kind


def check_answers(name: str, answer: Any) -> None:
    """Raise unless numbers are finite and probabilities are some, those of each output."""
    if isinstance(answer, list):
        for each in answer:
            check_answers(name, each)
        return
    if not np.isfinite(answer).all():
        raise WrongAnswerError("answer", f"{name} are not finite")
    if name == "probabilities":
        if (answer < 0).any():
            raise WrongAnswerError("answer", "probabilities are negative")
        # Shares in leaves are float32, a few of each.
        if (np.abs(answer.sum(axis=1) - 1.0) > 1e-4).any():
            raise WrongAnswerError("answer", "probabilities do not add up to one")


def side_by_side(answer: Any) -> Any:
    """Probabilities of several outputs as one array; others as they are."""
    return np.concatenate(answer, axis=1) if isinstance(answer, list) else answer


def check_importances(shares: np.ndarray) -> None:
    """Raise unless numbers are shares of features: finite, not negative, of sum one or zero."""
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise WrongAnswerError("answer", "importances are not finite shares")
    if not (abs(shares.sum() - 1.0) < 1e-6 or not shares.any()):
        raise WrongAnswerError("answer", "importances do not add up to one")


@dataclass
class Finding:
    """A case that had none of the outcomes it may have."""

    cases: str  # "files" or "inputs"
    number: int
    kind: str  # one of FINDINGS
    signature: str  # alike for cases with the same cause
    what: str
    description: str = ""
    case: Any = None  # what the case is made of, for inputs
    data: str = ""  # the file in base64, for files

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def finding_of(cases: str, number: int, error: BaseException) -> Finding:
    """The finding that an exception stands for."""
    kind = getattr(error, "kind", None)
    kind = kind if kind in FINDINGS else "exception"
    if isinstance(error, MemoryError):
        kind = "memory"
    text = "".join(traceback.format_exception(error)[-12:])
    signature = f"{kind}: {type(error).__name__} in {_place(error)}: {_plain(str(error))}"
    return Finding(cases, number, kind, signature, text[-3000:])


def _place(error: BaseException) -> str:
    """The innermost frame of the package, else of anything."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/bevel/" in frame.filename] or frames[-1:]
    return f"{own[-1].filename.split('/src/')[-1]}:{own[-1].name}" if own else "nowhere"


def _plain(text: str) -> str:
    """A message without the numbers and quotations that differ between cases of one cause."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|-?\d[\d.e+-]*|\binf\b|\bnan\b", "#", text)[:80]


def signature_of_log(kind: str, log: str) -> str:
    """A crash's or a hang's signature: the innermost Python frames that faulthandler shows."""
    frames = re.findall(r'File "([^"]*)", line (\d+) in (\S+)', log)
    own = [f"{file.rpartition('/')[2]}:{name}" for file, _, name in frames if "/bevel/" in file]
    return f"{kind}: in {' < '.join(own[:3]) or 'an unknown place'}"
