"""The experiments of the papers by name; `PROTOCOLS` holds them all."""

from bevel_lab.protocols import (
    bars,
    blaser,
    blaser_more,
    comparisons,
    iris,
    menze,
    rotation_study,
    simulated,
    spectra,
    sporf,
    sporf_grid,
    timing,
    transforms,
)
from bevel_lab.protocols.base import Plan, Problem, Protocol
from bevel_lab.protocols.claims import Claim, Side, Verdict, check_claim

__all__ = ["PROTOCOLS", "Claim", "Plan", "Problem", "Protocol", "Side", "Verdict", "check_claim"]

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for module in (
        *(sporf, simulated, transforms, menze, spectra, blaser, iris, rotation_study, bars),
        *(timing, comparisons, blaser_more, sporf_grid),
    )
    for protocol in module.PROTOCOLS
}
