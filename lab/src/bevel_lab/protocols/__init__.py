"""The experiments of the papers by name; `PROTOCOLS` holds them all."""

from bevel_lab.protocols import (
    bars,
    blaser,
    menze,
    rotation_study,
    simulated,
    sporf,
    timing,
    transforms,
)
from bevel_lab.protocols.base import Plan, Problem, Protocol
from bevel_lab.protocols.claims import Claim, Side, Verdict, judge

__all__ = ["PROTOCOLS", "Claim", "Plan", "Problem", "Protocol", "Side", "Verdict", "judge"]

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for room in (sporf, simulated, transforms, menze, blaser, rotation_study, bars, timing)
    for protocol in room.PROTOCOLS
}
