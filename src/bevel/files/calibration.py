"""The power of calibrated probabilities, in the header of a file: "calibration_power": 1.5."""

from __future__ import annotations

from bevel.files.faults import damaged
from bevel.files.values.fields import Fields
from bevel.forest.calibration import POWERS

__all__ = ["decode_power"]

FIRST_VERSION = 5  # first version of the format with a power


def decode_power(header: Fields, version: int, *, averages_classes: bool) -> float:
    """Read and check the power; raises ModelFileError.

    Parameters
    ----------
    header : Fields
        Header of the file.
    version : int
        Version of the format; before FIRST_VERSION the power is 1.
    averages_classes : bool
        Whether the forest averages class shares; in others the power is 1.
    """
    if version < FIRST_VERSION:
        return 1.0
    power = header.take("calibration_power", float)
    allowed = POWERS if averages_classes else (1.0,)
    if power not in allowed:
        raise damaged("header.calibration_power", f"one of {', '.join(map(str, allowed))}", power)
    return float(power)
