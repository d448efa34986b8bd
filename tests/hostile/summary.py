"""What a campaign has found, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .store import Store


def progress(store: Store, totals: Mapping[str, int], seconds: float) -> str:
    """One line while the campaign runs."""
    parts = [f"{seconds:.0f} s"]
    for cases, total in totals.items():
        tally = store.tally(cases)
        found = sum(tally.findings.values())
        parts.append(
            f"{cases} {tally.done}/{total}, {found} findings of {len(tally.findings)} kinds"
        )
    return "; ".join(parts)


def summary(store: Store) -> str:
    """The table at the end, and each kind of finding with its number of cases."""
    lines = [f"{'':8}{'cases':>9}{'refused':>9}{'accepted':>9}{'findings':>9}  slowest, largest"]
    for cases, tally in store.tallies.items():
        found = sum(tally.findings.values())
        lines.append(
            f"{cases:8}{tally.done:9}{tally.refused:9}{tally.accepted:9}{found:9}  "
            f"{tally.slowest:.2f} s (case {tally.slowest_number}), "
            f"{tally.largest / 2**20:.0f} MB (case {tally.largest_number})"
        )
    for cases, tally in store.tallies.items():
        kinds: Counter[str] = Counter()
        for signature, count in tally.findings.items():
            kinds[signature.partition(":")[0]] += count
        if kinds:
            told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
            lines += ["", f"Findings among {cases}: {told}"]
        lines += [f"{count:7}  {signature}" for signature, count in tally.findings.most_common()]
    lines += ["", f"Examples: {store.folder / 'findings'}"]
    return "\n".join(lines)
