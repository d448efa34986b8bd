"""Studies of a data set: whether rotations matter, and which ones (Blaser 2.4 and 3.3)."""

from bevel_lab.studies.ranking import RankedRotations, rank_rotations
from bevel_lab.studies.result import RotationGain, RotationStudy, read_studies
from bevel_lab.studies.running import rotation_study
from bevel_lab.studies.variance import VarianceSplit, split_variance

__all__ = [
    "RankedRotations",
    "RotationGain",
    "RotationStudy",
    "VarianceSplit",
    "rank_rotations",
    "read_studies",
    "rotation_study",
    "split_variance",
]
