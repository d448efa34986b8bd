"""The papers' experiments and comparisons with other libraries; `bevel lab` runs them."""

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
