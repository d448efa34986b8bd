"""Pictures of rotation studies. Matplotlib is imported when one is drawn."""

from bevel_lab.plots.rotation_study import rotation_heat_map, rotation_histogram, rotation_studies
from bevel_lab.plots.rotations import coordinate_planes, rotated_planes

__all__ = [
    "coordinate_planes",
    "rotated_planes",
    "rotation_heat_map",
    "rotation_histogram",
    "rotation_studies",
]
