"""The experiments of the papers by name; `PROTOCOLS` holds them all."""

from bevel.lab.protocols.base import Plan, Problem, Protocol

__all__ = ["PROTOCOLS", "Plan", "Problem", "Protocol"]

PROTOCOLS: dict[str, Protocol] = {}
