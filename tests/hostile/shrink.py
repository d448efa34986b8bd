"""Makes an input case smaller as long as it stays the finding that it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Spec = dict[str, Any]

PLAIN = {"weight": "None", "X": "table('normal', 20, 4)", "study": 0}


def shrink(spec: Spec, is_same: Callable[[Spec], bool]) -> Spec:
    """The case without what it can do without; a few dozen tries."""
    plain = [name for name in PLAIN if name in spec]
    for smaller in (*_parameters_less(spec), *plain, *_changes_less(spec)):
        tried = _without(spec, smaller)
        if tried != spec and is_same(tried):
            spec = tried
    return spec


def _parameters_less(spec: Spec) -> Iterator[tuple[str]]:
    for name in list(spec["parameters"]):
        if name not in ("n_estimators", "max_iter", "random_state"):
            yield (name,)


def _changes_less(spec: Spec) -> Iterator[list[Any]]:
    """The changes of a damaged file, one by one."""
    changes = spec.get("changes", [])
    yield from changes if len(changes) > 1 else []


def _without(spec: Spec, what: tuple[str] | str | list[Any]) -> Spec:
    if isinstance(what, list):
        return {**spec, "changes": [change for change in spec["changes"] if change != what]}
    if isinstance(what, tuple):
        left = {name: value for name, value in spec["parameters"].items() if name != what[0]}
        return {**spec, "parameters": left}
    if what == "X":
        return {**spec, "X": PLAIN["X"], "new": PLAIN["X"]}
    return {**spec, what: PLAIN[what]}
