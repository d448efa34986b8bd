"""Names of array types, after the dtype of their elements."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = dict[str, Array]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Float32s: TypeAlias = NDArray[np.float32]
AnyFloats: TypeAlias = NDArray[np.floating[Any]]
Ints32: TypeAlias = NDArray[np.int32]
Ints64: TypeAlias = NDArray[np.int64]
UInts64: TypeAlias = NDArray[np.uint64]
AnyInts: TypeAlias = NDArray[np.integer[Any]]
Indices: TypeAlias = NDArray[np.intp]
Target: TypeAlias = Ints32 | Floats  # codes of classes, or numbers
