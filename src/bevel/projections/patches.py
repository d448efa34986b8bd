"""Directions on patches of images, series and volumes."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bevel.errors import shorten, wrong_type, wrong_value
from bevel.projections.base import (
    FamilySpec,
    Projection,
    check_flag,
    check_integer,
    check_option,
    round_up,
)

__all__ = ["Patches"]

# Longest patch along an axis unless given: small shapes and edges, at a bounded price.
USUAL_LONGEST = 5
# As NumPy has it; the cost of a description grows with the square of their number.
MAX_AXES = 64


@dataclass(frozen=True)
class Patches(Projection):
    """Random weights on random patches of an image, a series or a volume: S-RerF.

    Source: Tomita's thesis, section 3.3.8 (structured randomer forests). The columns of X are the
    entries of an array of the given shape, raveled in C order: a series (T,), an image (height,
    width), a volume. Each direction takes a box of neighbouring entries: along each axis its size
    is uniform between `min` and `max`, and its place uniform among all places where it overlaps the
    array; what hangs over is cut off. Given the sizes, every entry is thus in the patch with the
    same probability, at the border as in the middle, and patches at the border may be smaller than
    `min`. With `inside=True` patches lie inside the array, which see corners least, and of which
    some cross the whole array.

    All columns must be numeric. As entries of one array they are in one unit, so that
    `scale="auto"` leaves them as they are.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array, the axis of channels included. Its product is the number of columns.
    min : int or tuple of int, default=1
        Smallest size of a patch, one for all axes or one for each (without the channels' axis).
    max : int or tuple of int, default=None
        Largest size, likewise. None means 5, or the length of an axis that is shorter, or `min`
        where that is larger. Cost grows with the number of entries in a patch.
    weights : {"signs", "uniform", "ones"}, default="signs"
        Weights inside a patch: −1 or +1; uniform on (−1, 1); or all 1, the sum of the patch.
    shuffle : bool, default=False
        The paper's control: as many pixels as the patch has, but anywhere in the array.
    wrap : bool, default=False
        The array is closed to a ring, such as angles or a day: patches go on at its other end
        instead of being cut off, and every start is as likely.
    channel_axis : int, default=None
        Axis of `shape`, such as −1 for images of shape (height, width, 3), that holds channels:
        patches have no extent along it. None: the array has no channels.
    channels : {"all", "one"}, default="all"
        Whether a patch covers all channels of its pixels, each with a weight of its own, or one
        channel chosen at random. With `shuffle` pixels move with their channels.
    inside : bool, default=False
        Patches lie inside the array instead of being cut off at its border.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_digits
    >>> X, y = load_digits()
    >>> patches = P.Patches((8, 8), min=2, max=4)
    >>> forest = ObliqueForestClassifier(20, projection=patches, random_state=0)
    >>> round(forest.fit(X[:900], y[:900]).score(X[900:], y[900:]), 2)
    0.93
    """

    name: ClassVar[str] = "patches"
    draws_without_rows: ClassVar[bool] = True
    can_be_constrained: ClassVar[bool] = True
    combines_units: ClassVar[bool] = False
    shape: int | tuple[int, ...]
    min: int | tuple[int, ...] = 1
    max: int | tuple[int, ...] | None = None
    weights: str = "signs"
    shuffle: bool = False
    wrap: bool = False
    channel_axis: int | None = None
    channels: str = "all"
    inside: bool = False

    def __post_init__(self) -> None:
        for name in ("shape", "min", "max"):
            value = getattr(self, name)
            if isinstance(value, Sequence) and not isinstance(value, str):
                object.__setattr__(self, name, tuple(value))  # lists cannot be compared by hash
        _check_shape(self.shape)
        self._check_channels()
        check_option("Patches(weights=)", self.weights, ("signs", "uniform", "ones"))
        check_flag("Patches(shuffle=)", self.shuffle)
        check_flag("Patches(wrap=)", self.wrap)
        check_flag("Patches(inside=)", self.inside)
        if self.inside and self.wrap:
            required, remedy = "False with wrap=True, which has no border", "Set one of the two."
            raise wrong_value("Patches(inside=)", required, True, remedy)
        self._axes()

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.shape if isinstance(self.shape, tuple) else (self.shape,)

    @property
    def _n_columns(self) -> int:
        return math.prod(int(length) for length in self._shape)

    def _check_channels(self) -> None:
        name, axis, n_axes = "Patches(channel_axis=)", self.channel_axis, len(self._shape)
        check_option("Patches(channels=)", self.channels, ("all", "one"))
        if axis is None:
            if self.channels != "all":
                required = '"all" unless channel_axis says which axis holds channels'
                remedy = "Set channel_axis, such as -1."
                raise wrong_value("Patches(channels=)", required, self.channels, remedy)
            return
        remedy = "Use -1 for the last axis, 0 for the first."
        if isinstance(axis, bool) or not isinstance(axis, numbers.Integral):
            raise wrong_type(name, "None or an axis of shape", axis, remedy)
        if n_axes < 2 or not -n_axes <= axis < n_axes:
            required = f"None or an axis beside another of shape {self.shape}"
            raise wrong_value(name, required, axis, remedy)

    def _axes(self) -> tuple[tuple[int, int, int, int], ...]:
        """Length, stride, shortest and longest patch along each axis that is not the channels'."""
        lengths = [int(length) for length in self._shape]
        strides = [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
        if self.channel_axis is not None:
            del strides[self.channel_axis], lengths[self.channel_axis]
        shortest = _sizes("Patches(min=)", self.min, lengths, [1] * len(lengths))
        usual = [min(USUAL_LONGEST, length) for length in lengths]
        longest = [max(both) for both in zip(shortest, usual, strict=True)]
        if self.max is not None:
            longest = _sizes("Patches(max=)", self.max, lengths, shortest)
        return tuple(zip(lengths, strides, shortest, longest, strict=True))

    def default_draws(self, n_features: int, regression: bool) -> int:  # noqa: ARG002
        """p draws, as for SparseSigns."""
        return n_features

    def check_columns(self, n_numeric: int, n_nominal: int) -> None:
        name = f"Patches(shape={shorten(self.shape)})"
        if n_nominal:
            raise ValueError(
                f"{name} needs columns that are all numeric: they are entries of an array; got "
                f"{n_nominal} nominal columns. Drop them, or pass categorical_features=None."
            )
        if self._n_columns != n_numeric:
            raise ValueError(
                f"{name} needs as many columns as the array has entries, {self._n_columns}; got "
                f"{n_numeric}. Pass the shape of one row before it was raveled."
            )

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:  # noqa: ARG002
        axes, n_channels, channel_stride = self._axes(), 1, 1
        if self.channel_axis is not None:
            axis = self.channel_axis % len(self._shape)
            n_channels = int(self._shape[axis])
            channel_stride = math.prod(int(length) for length in self._shape[axis + 1 :])
        one_channel = self.channels == "one"
        how = {
            "axes": axes,
            "n_channels": n_channels,
            "channel_stride": channel_stride,
            "one_channel": one_channel,
            "weights": self.weights,
            "shuffle": self.shuffle,
            "wrap": self.wrap,
            "inside": self.inside,
        }
        n_entries = math.prod(self._mean_size(*axis) for axis in axes)
        n_nonzeros = round_up(n_entries * (1 if one_channel else n_channels))
        return FamilySpec("patches", n_draws, n_nonzeros, how)

    def _mean_size(self, length: int, stride: int, shortest: int, longest: int) -> float:  # noqa: ARG002
        """Mean number of entries along an axis that are inside the array."""
        sizes = range(shortest, longest + 1)
        if self.wrap or self.inside:
            return sum(sizes) / len(sizes)
        return sum(size * length / (length + size - 1) for size in sizes) / len(sizes)


def _check_shape(shape: object) -> None:
    name, required = "Patches(shape=)", "a positive integer or a tuple of them"
    remedy = "Pass the shape of one row of X before it was raveled, such as (28, 28)."
    if isinstance(shape, tuple) and not 1 <= len(shape) <= MAX_AXES:
        raise wrong_value(name, f"{required} (at most {MAX_AXES})", shape, remedy)
    for length in shape if isinstance(shape, tuple) else (shape,):
        if isinstance(length, bool) or not isinstance(length, numbers.Integral):
            raise wrong_type(name, required, shape, remedy)
        if length < 1:
            raise wrong_value(name, required, shape, remedy)


def _sizes(
    name: str, sizes: int | tuple[int, ...], lengths: list[int], least: list[int]
) -> list[int]:
    """Sizes of a patch along each axis; raises unless they are between `least` and the lengths."""
    given = sizes if isinstance(sizes, tuple) else (sizes,) * len(lengths)
    if len(given) != len(lengths):
        required = f"one integer, or one for each of the {len(lengths)} axes without channels"
        raise wrong_value(name, required, sizes, "Pass a tuple of that length.")
    for size, length, smallest in zip(given, lengths, least, strict=True):
        check_integer(name, size, "entries, or a tuple of them")
        if not smallest <= size <= length:
            required = f"from {smallest} to the length of its axis ({length})"
            raise wrong_value(name, required, size, "Patches lie within the array.")
    return [int(size) for size in given]
