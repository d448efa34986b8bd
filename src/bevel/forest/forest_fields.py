"""The table of the arrays of a flat forest: types, lengths and uses.

File columns, slim forests, joined forests and subforests follow from it.
`cpp/bevel/forest/forest_fields.h` is the same table in C++; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

__all__ = ["FOREST_FIELDS", "ForestField"]


class ForestField(NamedTuple):
    """One array of a flat forest.

    Attributes
    ----------
    dtype : str
        NumPy's name of the type.
    per : str
        What there are values for. A set is a set of levels, a word 32 bits of one. An axis is a
        direction that the nodes of a tree share. Outputs are counted where there are several, and
        in regression each leaf has a value for each of them.
    kind : str
        "values": one value each. "offsets": where the things that each one owns begin, then where
        the last ones end. "optional": one value each, or none at all. "regression": one value each
        in a regression with one output, else none at all.
    use : str
        Arrays for "analysis" are empty in a slim forest.
    """

    dtype: str
    per: Literal[
        "tree", "node", "entry", "set", "word", "axis", "axis_entry", "output", "leaf_output"
    ]
    kind: Literal["values", "offsets", "optional", "regression"] = "values"
    use: Literal["prediction", "analysis"] = "prediction"


# In the order of the fields of FlatForest, which is that of the columns of a file.
FOREST_FIELDS: Mapping[str, ForestField] = {
    "tree_offset": ForestField("<i8", "tree", "offsets"),
    "right": ForestField("<i4", "node"),
    "threshold": ForestField("<f4", "node"),
    "flags": ForestField("|u1", "node"),
    "gain": ForestField("<f4", "node", "optional", "analysis"),
    "weight": ForestField("<f4", "node", "optional", "analysis"),
    "entry_offset": ForestField("<i8", "node", "offsets"),
    "entry_index": ForestField("<i4", "entry"),
    "entry_weight": ForestField("<f4", "entry"),
    "entry_p_value": ForestField("<f4", "entry", "optional", "analysis"),
    "leaf_value": ForestField("<f8", "node", "regression"),
    "bits_index": ForestField("<i4", "node", "optional"),
    "bits_offset": ForestField("<i8", "set", "offsets"),
    "bits": ForestField("<u4", "word"),
    "rotation_offset": ForestField("<i8", "tree", "offsets"),
    "rotation_entry_offset": ForestField("<i8", "axis", "offsets"),
    "rotation_index": ForestField("<i4", "axis_entry"),
    "rotation_weight": ForestField("<f4", "axis_entry"),
    "output_classes": ForestField("<i4", "output"),
    "output_value": ForestField("<f8", "leaf_output"),
}
