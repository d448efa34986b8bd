"""The systems of the comparison by name: every preset, the papers' baselines, and the peers."""

import difflib
from collections.abc import Iterable

from bevel.errors import join_names, wrong_value
from bevel_lab.systems import baselines, ours, peers
from bevel_lab.systems.base import Estimator, Grid, System, Task

__all__ = ["ALIASES", "SYSTEMS", "Estimator", "Grid", "System", "Task", "find_systems"]

SYSTEMS: dict[str, System] = {
    system.name: system for module in (ours, baselines, peers) for system in module.systems()
}
# What the papers call them.
ALIASES = {"rf": "random-forest", "et": "extra-trees", "f-rc": "forest-rc", "xgb": "xgboost"}


def find_systems(names: Iterable[str]) -> tuple[str, ...]:
    """Resolve names and aliases in their order, each once; an unknown one raises."""
    found: dict[str, None] = {}
    for given in names:
        name = given.strip().lower().replace("_", "-")
        name = ALIASES.get(name, name)
        if name not in SYSTEMS:
            close = difflib.get_close_matches(name, SYSTEMS, n=1)
            remedy = f"Did you mean {close[0]}?" if close else "See `bevel lab list --systems`."
            known = join_names(list(SYSTEMS), 6)
            raise wrong_value("Systems", f"known to the lab ({known})", given, remedy)
        found[name] = None
    return tuple(found)
