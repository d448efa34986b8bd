"""Pages of fits, explanations and the demo: one HTML file each, with its figures inside."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bevel.report import demo as demo
    from bevel.report import explain as explain
    from bevel.report import fit as fit
    from bevel.report import headline as headline
    from bevel.report import tasks as tasks
else:  # imported at their first use: the help of the command line needs none of them

    def __getattr__(name: str) -> Any:
        if name not in ("demo", "explain", "fit", "headline", "tasks"):
            raise AttributeError(f"module 'bevel.report' has no attribute {name!r}")
        return import_module(f"bevel.report.{name}")
