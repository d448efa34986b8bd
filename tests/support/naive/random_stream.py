"""The random streams of the core, in plain Python, written from `cpp/bevel/random/stream.h`."""

from __future__ import annotations

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
PERMUTATION = 8  # the purpose of shuffled rows


def mix(z: int) -> int:
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def root_key(seed: int, tree: int) -> int:
    return mix(mix((seed + GOLDEN) & MASK) ^ ((tree * 0xD1342543DE82EF95 + 1) & MASK))


def child_key(parent: int, right: bool) -> int:
    return mix((parent + (0xA0761D6478BD642F if right else 0xE7037ED1A0B428DB)) & MASK)


def shuffled(key: int, n: int) -> list[int]:
    """Rows 0 .. n - 1 in the order that a key and the purpose of shuffled rows give."""
    state = mix(key ^ (PERMUTATION * GOLDEN & MASK))
    rows = list(range(n))
    for i in range(n, 1, -1):
        state = (state + GOLDEN) & MASK
        j = mix(state) * i >> 64
        rows[i - 1], rows[j] = rows[j], rows[i - 1]
    return rows
