"""The laboratory: forests compared on equal terms, as plain results that others print or draw."""

from bevel_lab.studies import (
    RankedRotations,
    RotationGain,
    RotationStudy,
    VarianceSplit,
    rank_rotations,
    rotation_study,
    split_variance,
)

__all__ = [
    "RankedRotations",
    "RotationGain",
    "RotationStudy",
    "VarianceSplit",
    "rank_rotations",
    "rotation_study",
    "split_variance",
]
