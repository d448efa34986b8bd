"""Hostile model files: made from sound ones by the number of the case, then loaded and used."""

from __future__ import annotations

import base64
import os
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.mutations import mutate

import bevel
from bevel import ModelFileError

from .exercise import exercise_file
from .file_changes import change
from .models import Source, sources
from .parsed import parse
from .verdicts import ACCEPTED, REFUSED, WrongAnswerError

SHARE_OF_BLIND_CHANGES = 0.3
_SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class FileCase:
    """A file, how it came about, and what is known of the sound one."""

    data: bytes
    how: str
    source: Source


def make(number: int) -> FileCase:
    """The file of a number, always the same."""
    rng = random.Random(f"files {number}")
    source = rng.choice(sources())
    if rng.random() < SHARE_OF_BLIND_CHANGES:
        how, data = mutate(source.data, rng)
        return FileCase(data, f"{source.name}: {how}", source)
    file = parse(source)
    how = change(file, rng)
    try:
        data = file.seal()
    except (TypeError, ValueError, RecursionError) as error:  # JSON cannot hold it: no file at all
        return FileCase(source.data, f"{source.name}: sound, for {how} gave {error}", source)
    return FileCase(data, f"{source.name}: {how}", source)


def given(case: dict[str, Any]) -> FileCase:
    """A case kept from an earlier run."""
    data = base64.b64decode(case["data"])
    source = next((s for s in sources() if s.name == case.get("source")), sources()[0])
    return FileCase(data, case.get("description", "kept"), source)


def check(case: FileCase) -> str:
    """Load a file in both ways and use what was loaded."""
    path = _write(case.data)
    try:
        return _check(path, case)
    finally:
        path.unlink(missing_ok=True)


def _check(path: Path, case: FileCase) -> str:
    whole, mapped = _load(path, mmap=False), _load(path, mmap=True)
    if whole is None:
        if mapped is not None:
            exercise_file(mapped, case, path, trusted=False)
            _must_refuse(mapped)
        return REFUSED
    if mapped is None:
        raise WrongAnswerError("differs", "a file that can be loaded was refused as a map")
    mapped.verify()
    answers = exercise_file(whole, case, path, trusted=True)
    _must_agree(answers, exercise_file(mapped, case, path, trusted=True, brief=True))
    return ACCEPTED


def _load(path: Path, *, mmap: bool) -> Any:
    try:
        return bevel.load(path, mmap=mmap)
    except ModelFileError:
        return None


def _must_refuse(mapped: Any) -> None:
    try:
        mapped.verify()
    except ModelFileError:
        return
    raise WrongAnswerError("differs", "a file that cannot be loaded was verified as a map")


def _must_agree(whole: dict[str, bytes], mapped: dict[str, bytes]) -> None:
    for name, answer in mapped.items():
        if answer != whole[name]:
            raise WrongAnswerError("differs", f"{name} of a mapped file is another")


def _write(data: bytes) -> Path:
    """A new file each time: an old one may still be mapped."""
    folder = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else Path(tempfile.gettempdir())
    path = folder / f"bevel-hostile-{os.getpid()}.bevel"
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    return path
