"""The command: `python -m tests.hostile --files 1000000 --inputs 100000 --jobs 2 --store DIR`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from .campaign import Campaign
from .replay import kept_cases, replay
from .store import Store
from .summary import progress, summary
from .verdicts import ACCEPTED, REFUSED


def main() -> int:
    """Run the campaign; 1 if it has findings, old ones included."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="hostile model files in all")
    parser.add_argument("--inputs", type=int, default=2_000, help="hostile inputs in all")
    parser.add_argument("--tables", type=int, default=2_000, help="hostile tables in all")
    parser.add_argument("--jobs", type=int, default=2, help="workers at a time")
    parser.add_argument("--store", type=Path, help="folder to keep results in, and to go on from")
    parser.add_argument("--replay", type=Path, help="run the findings of a folder again, no more")
    arguments = parser.parse_args()
    if arguments.replay:
        return _replay(arguments.replay)
    store = Store(arguments.store or Path(tempfile.mkdtemp(prefix="hostile-")))
    totals = {"files": arguments.files, "inputs": arguments.inputs, "tables": arguments.tables}
    start = time.monotonic()

    def report(store: Store) -> None:
        print(progress(store, totals, time.monotonic() - start), file=sys.stderr, flush=True)

    try:
        Campaign(store, totals, arguments.jobs, report).run()
    except KeyboardInterrupt:
        print("Interrupted; the same command goes on from here.", file=sys.stderr)
    print(summary(store))
    return 1 if any(tally.findings for tally in store.tallies.values()) else 0


def _replay(folder: Path) -> int:
    """Run kept cases again; 1 if any is still a finding."""
    outcomes = replay(kept_cases(folder))
    for page, outcome in outcomes.items():
        print(f"{page.name}: {outcome}")
    return 0 if set(outcomes.values()) <= {REFUSED, ACCEPTED} else 1


if __name__ == "__main__":
    sys.exit(main())
