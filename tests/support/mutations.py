"""Damages model files in every way that comes to mind, half of them with the checksums put right.

A file whose checksums are wrong is refused by them alone; only behind right ones does a lie reach
the checks of structure.
"""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from bevel.files.layout import VERSION

PRELUDE = struct.Struct("<8sIIQQ")
MAGIC = b"\x89BEVEL\r\n"

INTEGERS = (0, 1, -1, 2, 7, 127, 128, 255, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**62, 2**63 - 1)
WIDE = (*INTEGERS, -(2**63), 2**63, 2**64 - 1, 2**64, 10**30, -(10**30), 10**300)
WORDS = ("", "raw", "constant", "packed", "codes", "codes.packed", "steps.packed", "filled.raw")
WORDS += (
    "<i4",
    "<f8",
    "|u1",
    "object",
    "x" * 300,
    "p**2",
    "threshold.raw.values",
    "é\u0000",
    "nan",
)
ODD = (None, True, False, 0.5, -1e308, [], {}, [[]], [0] * 20, {"tuple": []}, {"float": "nan"})
ODD += ({"numpy": ["<i4", 2**40]}, {"bytes": "!"}, {"dict": [[1, 2], [1, 3]]}, {"function": "f"})
ODD += ({"projection": {"class": "os.system", "arguments": {}}},)


def mutate(source: bytes, rng: random.Random) -> tuple[str, bytes]:
    """A damaged copy of a file, and how it was damaged."""
    if rng.random() < 0.5:
        how = rng.choice(PLAIN)
        data = bytearray(source)
        how(data, rng)
        return f"plain {how.__name__}", bytes(data)
    header, data = split(source)
    how = rng.choice(SEALED)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        how(header, data, rng)
    return f"sealed {how.__name__}", seal(header, bytes(data), damage_text(rng))


def split(source: bytes) -> tuple[dict[str, Any], bytearray]:
    """Header and sections of a sound file."""
    *_, length, _ = PRELUDE.unpack_from(source)
    text = source[PRELUDE.size : PRELUDE.size + length]
    return json.loads(text), bytearray(source[_aligned(PRELUDE.size + length) :])


def seal(
    header: Any,
    data: bytes,
    damage: Callable[[bytes], bytes] = lambda text: text,
    version: int = VERSION,
) -> bytes:
    """A file of any header and sections, with lengths and checksums as they should be."""
    _put_checksums(header, data)
    text = damage(json.dumps(header).encode())
    start = _aligned(PRELUDE.size + len(text))
    before = struct.pack("<8sI", MAGIC, version)
    after = struct.pack("<QQ", len(text), start + len(data))
    checksum = zlib.crc32(before + after + text)
    whole = before + struct.pack("<I", checksum) + after + text
    return whole.ljust(start, b"\0") + data


def _put_checksums(header: Any, data: bytes) -> None:
    table = header.get("sections") if isinstance(header, dict) else None
    for entry in table if isinstance(table, list) else ():
        try:
            size = entry["length"] * int(entry["dtype"][-1])
            entry["crc32"] = zlib.crc32(data[entry["offset"] : entry["offset"] + size])
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            continue


def _aligned(size: int) -> int:
    return -(-size // 8) * 8


def damage_text(rng: random.Random) -> Callable[[bytes], bytes]:
    """Now and then, damage to the header's text itself."""
    if rng.random() > 0.1:
        return lambda text: text
    return rng.choice(
        (
            lambda text: text.replace(b"0", rng.choice((b"NaN", b"Infinity", b"1e999")), 1),
            lambda text: b"[" * 100_000 + text,
            lambda text: text.replace(b'"length": ', b'"length": 1' + b"0" * 5000, 1),
            lambda text: text[: rng.randrange(len(text))],
            lambda text: text.replace(b"{", b'{"bevel": "", "bevel": "", ', 1),
            lambda text: b"\xff" + text,
        )
    )


def flip_bits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 3))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def set_bytes(data: bytearray, rng: random.Random) -> None:
    size = rng.choice((1, 2, 4, 8, 64))
    place = rng.randrange(len(data))
    data[place : place + size] = bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))]) * min(
        size, len(data) - place
    )


def write_number(data: bytearray, rng: random.Random) -> None:
    form = rng.choice(("<i", "<q"))
    size = struct.calcsize(form)
    if len(data) < size:
        return
    place = rng.randrange(len(data) - size + 1) // size * size
    number = rng.choice(INTEGERS) + rng.choice((0, 0, 1))
    number = (number + 2 ** (8 * size - 1)) % 2 ** (8 * size) - 2 ** (8 * size - 1)
    data[place : place + size] = struct.pack(form, number)


def swap_ranges(data: bytearray, rng: random.Random) -> None:
    size = rng.choice((1, 4, 8, 32))
    one, other = (rng.randrange(len(data)) // 4 * 4 for _ in range(2))
    first, second = bytes(data[one : one + size]), bytes(data[other : other + size])
    if len(first) == len(second):
        data[one : one + size], data[other : other + size] = second, first


def cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def grow(data: bytearray, rng: random.Random) -> None:
    data += bytes(rng.choice((1, 7, 8, 4096)))


def damage_prelude(data: bytearray, rng: random.Random) -> None:
    place = rng.randrange(PRELUDE.size)
    data[place] = rng.randrange(256)


def damage_sections(_header: Any, data: bytearray, rng: random.Random) -> None:
    if data:
        rng.choice((flip_bits, set_bytes, write_number, write_number, swap_ranges))(data, rng)


def cut_sections(_header: Any, data: bytearray, rng: random.Random) -> None:
    rng.choice((cut, grow))(data, rng) if data else grow(data, rng)


def lie_in_header(header: Any, _data: bytearray, rng: random.Random) -> None:
    container, key = _somewhere(header, rng)
    if container is not None:
        container[key] = _lie(container[key], rng)


def lie_in_columns(header: Any, _data: bytearray, rng: random.Random) -> None:
    """The part that says how arrays are laid out deserves more lies than its share."""
    for part in ("columns", "sections", "targets"):
        if isinstance(header.get(part), dict | list) and rng.random() < 0.6:
            lie_in_header(header[part], _data, rng)


def drop_from_header(header: Any, _data: bytearray, rng: random.Random) -> None:
    container, key = _somewhere(header, rng)
    if container is not None:
        del container[key]


def repeat_in_header(header: Any, _data: bytearray, rng: random.Random) -> None:
    container, key = _somewhere(header, rng)
    if isinstance(container, list):
        container.insert(key, deepcopy(container[rng.randrange(len(container))]))
    elif container is not None:
        container[rng.choice(WORDS)] = deepcopy(container[key])


def _somewhere(value: Any, rng: random.Random) -> tuple[Any, Any]:
    """A random place in a header: a container and a key of it."""
    container, key = None, None
    while isinstance(value, dict | list) and len(value):
        container = value
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        value = container[key]
        if rng.random() < 0.1:
            break
    return container, key


def _lie(value: Any, rng: random.Random) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.7:
        return value + rng.choice((-1, 1)) if rng.random() < 0.4 else rng.choice(WIDE)
    if isinstance(value, str) and rng.random() < 0.5:
        return rng.choice(WORDS)
    # A copy: later lies may go into it.
    return deepcopy(rng.choice((rng.choice(ODD), rng.choice(WIDE), rng.choice(WORDS))))


PLAIN = (flip_bits, set_bytes, write_number, swap_ranges, cut, grow, damage_prelude)
SEALED = (damage_sections, damage_sections, damage_sections, cut_sections)
SEALED += (lie_in_header, lie_in_columns, lie_in_columns, drop_from_header, repeat_in_header)
