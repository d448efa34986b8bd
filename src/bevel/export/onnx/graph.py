"""A thin writer of ONNX graphs: nodes are added in order and tensors are referred to by name.

Constants belong to the outermost graph, where the bodies of loops can read them. Only operators
of opset 17 are used, so that the graph is valid in every later opset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.extras import import_optional

__all__ = ["MAX_MODEL", "ML_DOMAIN", "Graph"]

ML_DOMAIN = "ai.onnx.ml"
# A protobuf message is limited to 2^31 bytes; a part of it is left for what is not a table.
MAX_MODEL = 2**31 - 2**24
# Constants up to this many bytes are deduplicated.
_SHARED = 64

Body = Callable[["Graph", str, list[str]], tuple[str, list[str], list[str]]]


class Graph:
    """A graph, or the body of a loop, that is being written.

    Parameters
    ----------
    outer : Graph or None
        Graph that contains the body of a loop; None for the outermost one.
    """

    def __init__(self, outer: Graph | None = None) -> None:
        self.onnx: Any = (
            outer.onnx
            if outer
            else import_optional("onnx", needed_by="to_onnx", install="bevel[onnx]")
        )
        self.nodes: list[Any] = []
        self._root: Graph = outer._root if outer else self
        if outer is None:
            self.constants: list[Any] = []
            self._n_bytes = 0
            self._shared: dict[tuple[str, tuple[int, ...], bytes], str] = {}
            self._taken: set[str] = set()

    def name(self, hint: str) -> str:
        """A unique tensor name: the hint itself if it is free."""
        taken = self._root._taken
        number, name = 1, hint
        while name in taken:
            number += 1
            name = f"{hint}_{number}"
        taken.add(name)
        return name

    def add(self, op: str, *inputs: str, domain: str = "", output: str = "", **how: Any) -> str:
        """Add a node of one output and return the output's name."""
        made = output or self._fresh(op)
        self.nodes.append(
            self.onnx.helper.make_node(op, list(inputs), [made], domain=domain, **how)
        )
        return made

    def constant(self, values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> str:
        """A constant tensor; equal small ones are written once."""
        array = np.ascontiguousarray(values, dtype=dtype).reshape(np.shape(values))
        key = (array.dtype.str, array.shape, array.tobytes() if array.nbytes <= _SHARED else b"")
        if array.nbytes <= _SHARED and array.dtype.kind != "O" and key in self._root._shared:
            return self._root._shared[key]
        self.weigh(array.nbytes)
        name = self._root._shared[key] = self._fresh("table")
        self._root.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, *values: int) -> str:
        """A vector of int64, as shapes and axes are given."""
        return self.constant(np.array(values, np.int64))

    def weigh(self, n_bytes: int) -> None:
        """Count bytes towards the limit of a model; raises when they exceed it."""
        self._root._n_bytes += n_bytes
        if self._root._n_bytes > MAX_MODEL:
            raise ValueError(
                f"An ONNX model must stay below {MAX_MODEL / 2**30:.1f} GiB, the most that its "
                f"format holds; got a forest of {self._root._n_bytes / 2**30:.1f} GiB or more. "
                "Export fewer or smaller trees (n_estimators, max_depth, min_samples_leaf)."
            )

    def cast(self, tensor: str, dtype: npt.DTypeLike) -> str:
        """The tensor converted to another type."""
        return self.add("Cast", tensor, to=self.element_type(dtype))

    def reshape(self, tensor: str, *shape: int) -> str:
        """The tensor in another shape; 0 keeps a length and -1 infers it."""
        return self.add("Reshape", tensor, self.integers(*shape))

    def take(self, table: str, places: str) -> str:
        """Elements of a vector at a vector of positions.

        onnxruntime reads single elements 14 times faster by GatherElements than by Gather, which
        copies slices of any length.
        """
        return self.add("GatherElements", table, places, axis=0)

    def sum_first_axis(self, tensor: str) -> str:
        """Sums over the first axis, which onnxruntime adds from first to last."""
        return self.add("ReduceSum", tensor, self.integers(0), keepdims=0)

    def sort_rows(self, tensor: str, width: int) -> str:
        """Each row of a matrix of that width in ascending order."""
        outputs = [self._fresh("TopK"), self._fresh("TopK")]
        inputs = [tensor, self.integers(width)]
        how = {"axis": 1, "largest": 0, "sorted": 1}
        self.nodes.append(self.onnx.helper.make_node("TopK", inputs, outputs, **how))
        return outputs[0]

    def length(self, tensor: str, axis: int = 0) -> str:
        """Length of one axis, a vector of one int64."""
        return self.add("Shape", tensor, start=axis, end=axis + 1)

    def scalar(self, tensor: str) -> str:
        """The only element of a vector, without its axis."""
        return self.add("Squeeze", tensor, self.integers(0))

    def loop(
        self,
        trips: str,
        state: Sequence[tuple[str, npt.DTypeLike]],
        body: Body,
        outputs: Sequence[npt.DTypeLike] = (),
    ) -> list[str]:
        """Repeat a body; returns the last state, then the stacked outputs of the iterations.

        Parameters
        ----------
        trips : str
            A scalar of int64, or "" for no limit.
        state : sequence of (tensor, dtype)
            State that an iteration passes to the next.
        body : callable
            Writes one iteration: given graph, iteration number and state, returns whether to
            continue (a scalar of bool), the new state and the outputs.
        outputs : sequence of dtype, default=()
            Types of the outputs of an iteration.
        """
        inner = Graph(self)
        trip, going = inner._fresh("trip"), inner._fresh("going")
        held = [inner._fresh("state") for _ in state]
        goes_on, *new = inner._written(*body(inner, trip, held))
        handed = [self.element_type(dtype) for _, dtype in state]
        all_types = handed + [self.element_type(dtype) for dtype in outputs]
        info = self.onnx.helper.make_tensor_value_info
        proto = self.onnx.TensorProto
        graph = self.onnx.helper.make_graph(
            inner.nodes,
            self._fresh("body"),
            [
                info(trip, proto.INT64, []),
                info(going, proto.BOOL, []),
                *(info(tensor, kind, None) for tensor, kind in zip(held, handed, strict=True)),
            ],
            [
                info(goes_on, proto.BOOL, []),
                *(info(tensor, kind, None) for tensor, kind in zip(new, all_types, strict=True)),
            ],
        )
        made = [self._fresh("looped") for _ in all_types]
        inputs = [trips, "", *(tensor for tensor, _ in state)]
        self.nodes.append(self.onnx.helper.make_node("Loop", inputs, made, body=graph))
        return made

    def _written(self, goes_on: str, state: list[str], outputs: list[str]) -> list[str]:
        """Results under names of their own: a loop may not return tensors from outside it."""
        return [self.add("Identity", tensor) for tensor in (goes_on, *state, *outputs)]

    def element_type(self, dtype: npt.DTypeLike) -> int:
        """ONNX's number of a NumPy type; `object` and `str` mean text."""
        kind = np.dtype(dtype)
        if kind.kind in "OU":
            return int(self.onnx.TensorProto.STRING)
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(kind))

    def _fresh(self, hint: str) -> str:
        return self.name(f"bevel/{hint}")
