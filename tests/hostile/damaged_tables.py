"""Files of tables with damaged bytes, scanned and fitted."""

from __future__ import annotations

import random
import struct
import tempfile
from pathlib import Path
from typing import Any

from .small_tables import (
    WRITERS,
    check_again,
    estimator_expressions,
    estimator_from,
    examine,
    is_refusal,
    scan_file,
    small_table,
    write_table,
)
from .verdicts import ACCEPTED, REFUSED

NUMBERS = (0, 1, -1, 2, 7, 8, 64, 127, 255, 2**15, 2**16, 2**24, 2**30, 2**31 - 1, -(2**31), 2**40)
NUMBERS += (2**62, 2**63 - 1, -(2**63))
TEXT = ("\0", '"', '""', "\n", "\r", ",", "\ufeff", "1e999", "nan", "-", "é", "0x1p3", "\\", "'")
SHARE_OF_SECOND_FITS = 0.3


def make(rng: random.Random) -> dict[str, Any]:
    """A sound file and a few changes of its bytes."""
    form = rng.choice(list(WRITERS))
    n_changes = rng.choice((1, 1, 1, 2, 3, 8))
    return {
        **estimator_expressions(rng),
        "form": form,
        "seed": rng.randrange(10**6),
        "n_rows": rng.choice((1, 5, 12, 24, 40)),
        "changes": [random_change(form, rng) for _ in range(n_changes)],
        "again": rng.random() < SHARE_OF_SECOND_FITS,
    }


def random_change(form: str, rng: random.Random) -> list[Any]:
    """The name of a change, its place as a share of the file, and its details."""
    place = rng.random() if rng.random() < 0.7 else 1.0 - 0.1 * rng.random()  # footers are at ends
    if form == "csv" and rng.random() < 0.5:
        return ["insert", place, rng.choice(TEXT).encode().hex()]
    name = rng.choices(list(CHANGES), (4, 3, 3, 6, 2, 1, 2, 1))[0]
    if name == "flip":
        return [name, place, rng.randrange(8)]
    if name in ("zero", "fill", "drop"):
        return [name, place, rng.choice((1, 2, 4, 8, 32, 64, 256))]
    if name == "number":
        return [name, place, rng.choice(("<i", "<q")), rng.choice(NUMBERS)]
    if name == "swap":
        return [name, place, rng.random()]
    return [name, place, rng.randbytes(rng.choice((1, 4, 8, 64))).hex()]


def _flip(data: bytearray, place: int, bit: int) -> None:
    data[place] ^= 1 << bit


def _zero(data: bytearray, place: int, size: int) -> None:
    data[place : place + size] = bytes(min(size, len(data) - place))


def _fill(data: bytearray, place: int, size: int) -> None:
    data[place : place + size] = b"\xff" * min(size, len(data) - place)


def _number(data: bytearray, place: int, form: str, number: int) -> None:
    """A number in place of another, where files have theirs: at multiples of four bytes."""
    size = struct.calcsize(form)
    half = 2 ** (8 * size - 1)
    place = place // 4 * 4
    if place + size <= len(data):
        data[place : place + size] = struct.pack(form, (number + half) % (2 * half) - half)


def _cut(data: bytearray, place: int, _: str) -> None:
    del data[place:]


def _drop(data: bytearray, place: int, size: int) -> None:
    del data[place : place + size]


def _swap(data: bytearray, place: int, share: float) -> None:
    other = int(share * len(data))
    size = min(8, len(data) - max(place, other), abs(place - other))
    one, two = bytes(data[place : place + size]), bytes(data[other : other + size])
    data[place : place + size], data[other : other + size] = two, one


def _insert(data: bytearray, place: int, text: str) -> None:
    data[place:place] = bytes.fromhex(text)


CHANGES = {
    "flip": _flip,
    "zero": _zero,
    "fill": _fill,
    "number": _number,
    "cut": _cut,
    "drop": _drop,
    "swap": _swap,
    "insert": _insert,
}


def damage(path: Path, changes: list[list[Any]]) -> None:
    """Change the bytes of a file."""
    data = bytearray(path.read_bytes())
    for name, place, *details in changes:
        if data:
            CHANGES[name](data, min(int(place * len(data)), len(data) - 1), *details)
    path.write_bytes(data)


def check(spec: dict[str, Any]) -> str:
    """Fit the damaged file; if that is accepted, fit it again in other blocks."""
    estimator = estimator_from(spec)
    with tempfile.TemporaryDirectory(prefix="bevel-hostile-") as folder:
        table = small_table(spec["seed"], spec["n_rows"], spec["estimator"])
        path = write_table(table, spec["form"], Path(folder))
        damage(path, spec["changes"])
        try:
            estimator.fit(scan_file(path))
        except Exception as error:
            if is_refusal(error):
                return REFUSED
            raise
        answers = examine(estimator)
        if spec["again"]:
            check_again(estimator, answers, path=path, block_rows=3)
    return ACCEPTED
