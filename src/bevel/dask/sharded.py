"""Growth over blocks at the workers: neither a worker nor the client has the whole table.

Each part of the rows becomes a block, which stays at its worker. The client is the coordinator of
`bevel.training.blocks`: it requests histograms, chooses the cuts, and lets workers gather and
grow nodes that became small.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.dask.cluster import Fit, workers_of
from bevel.dask.parts import PartedRows
from bevel.dask.tasks import (
    SentTask,
    add_up,
    encode_part,
    gather_rows,
    grow_subtrees,
    histograms_of,
    sample_of,
    slice_rows,
    survey_part,
)
from bevel.scanning.encoding import RowEncoder, finish_encoding, learn_encoding
from bevel.scanning.reading import ReadTable, classes_of, known_table
from bevel.scanning.store import share_out
from bevel.scanning.survey import ClassSurvey, NumberSurvey, Survey
from bevel.training.blocks import Block, Columns, SmallNode, Subtree, SubtreeTask, sample_size

__all__ = ["DaskBlocks", "read_parts"]

ANSWERS_AT_ONCE = 8  # histograms that one task adds up
BUNDLES_PER_THREAD = 3  # bundles of nodes that are grown together
MAX_ARGUMENT = 2**20  # larger requests are sent to all workers once
MAX_LOSSES = 3  # losses of sent data with dead workers before a fit fails
MAX_SPACE = 2**31  # bytes for histograms and gathered rows, at a worker without a limit


class DaskBlocks:
    """Blocks at workers.

    Parameters
    ----------
    fit : Fit
        Tasks of the fit.
    blocks : sequence of Future
        Blocks in the order of the rows.
    columns : Columns
        Properties of the columns that the blocks share.
    """

    def __init__(self, fit: Fit, blocks: Sequence[Any], columns: Columns) -> None:
        self._fit, self._blocks, self._columns = fit, blocks, columns
        where = fit.client.who_has(list(blocks))
        self._groups: dict[str | None, list[int]] = {}
        for number, block in enumerate(blocks):
            places = where.get(block.key) or [None]
            self._groups.setdefault(min(places, key=str), []).append(number)

    def histograms(self, request: bytes, n_numbers: int) -> npt.NDArray[np.int64]:
        """Sums over the rows of all blocks."""
        for _ in range(MAX_LOSSES):
            try:
                return self._histograms(request, n_numbers)
            except CancelledError:
                continue  # sent data died with a worker and is sent again
        return self._histograms(request, n_numbers)

    def _histograms(self, request: bytes, n_numbers: int) -> npt.NDArray[np.int64]:
        sent = self._send(request)
        answers = [
            self._fit.submit(
                *("make-histograms", histograms_of, self._of(group), self._columns),
                *(sent, n_numbers),
                on=place,
            )
            for place, group in self._groups.items()
        ]
        used = list(answers)
        while len(answers) > 1:
            answers = [
                self._fit.submit("add-histograms", add_up, answers[i : i + ANSWERS_AT_ONCE])
                for i in range(0, len(answers), ANSWERS_AT_ONCE)
            ]
            used += answers
        total: npt.NDArray[np.int64] = self._fit.result(answers[0])
        self._fit.drop(used)
        return np.array(total)  # arrays of Dask are read-only

    def subtrees(
        self, request: bytes, nodes: Sequence[SmallNode], task: SubtreeTask
    ) -> Iterator[Subtree]:
        """Subtrees of the nodes of a request, bundle by bundle."""
        bundles, n_done, n_losses = self._bundles(nodes), 0, 0
        while n_done < len(bundles):
            try:
                for grown in self._subtrees(request, nodes, task, bundles, n_done):
                    yield from grown
                    n_done += 1
            except CancelledError:
                n_losses += 1
                if n_losses > MAX_LOSSES:
                    raise

    def _subtrees(
        self,
        request: bytes,
        nodes: Sequence[SmallNode],
        task: SubtreeTask,
        bundles: list[list[int]],
        first: int,
    ) -> Iterator[Any]:
        """Subtrees of the bundles from the first on."""
        sent = self._send(request)
        gathered = [
            self._fit.submit(
                *("gather-rows", gather_rows, self._of(group), group, self._columns),
                *(sent, bundles),
                on=place,
            )
            for place, group in self._groups.items()
        ]
        columns, n_classes, _, gain_unit, options = task
        used, grown = list(gathered), []
        for number, bundle in list(enumerate(bundles))[first:]:
            pieces = [self._fit.submit("take-rows", _take, each, number) for each in gathered]
            chosen = {place: nodes[place] for place in bundle}
            arguments = (pieces, chosen, SentTask(columns, n_classes, options, gain_unit))
            grown.append(self._fit.submit("grow-subtrees", grow_subtrees, *arguments))
            used += pieces
        for each in grown:
            yield self._fit.result(each)
        self._fit.drop(used + grown)

    def blocks(self) -> Iterator[Block]:
        """All blocks, in the order of the rows, one at a time."""
        for block in self._blocks:
            yield self._fit.result(block)

    def _of(self, group: Sequence[int]) -> list[Any]:
        return [self._blocks[number] for number in group]

    def _send(self, request: bytes) -> Any:
        content = np.frombuffer(request, np.uint8)
        if len(content) <= MAX_ARGUMENT:
            return content
        return self._fit.client.scatter(content, broadcast=True, hash=False)

    def _bundles(self, nodes: Sequence[SmallNode]) -> list[list[int]]:
        """Bundles of nodes that are grown together, with similar numbers of rows."""
        n_threads = sum(worker.n_threads for worker in workers_of(self._fit.client))
        n_bundles = min(len(nodes), BUNDLES_PER_THREAD * max(n_threads, 1))
        bundles: list[list[int]] = [[] for _ in range(n_bundles)]
        sizes = [0] * n_bundles
        for place in sorted(range(len(nodes)), key=lambda place: -nodes[place].n_rows):
            smallest = sizes.index(min(sizes))
            bundles[smallest].append(place)
            sizes[smallest] += nodes[place].n_rows
        return bundles


def _take(pieces: Sequence[Any], number: int) -> Any:
    return pieces[number]


@contextmanager
def read_parts(
    fit: Fit,
    rows: PartedRows,
    *,
    regression: bool,
    categorical_features: Any,
    scale: str | None,
    class_weight: Any,
    n_threads: int,
) -> Iterator[ReadTable]:
    """Encode the parts as blocks; see `bevel.scanning.reading.read_blocks`."""
    target: ClassSurvey | NumberSurvey = NumberSurvey() if regression else ClassSurvey()
    keeps_sample = scale not in (None, "minmax", "minmax_clip")
    parts = _aligned(fit, rows)
    survey: Any = Survey(categorical_features, target, sample_size, keeps_sample, scale is not None)
    surveys = []
    for part in parts:
        survey = fit.submit("survey-part", survey_part, survey, *part)
        surveys.append(survey)
    survey = fit.result(survey)
    fit.drop(surveys)
    found, target, weights = survey.finish(), survey.target, survey.weights
    of_class = None
    if isinstance(target, ClassSurvey):
        of_class = target.weights_of_classes(class_weight)
    encoding = learn_encoding(found, scale)
    encoder = RowEncoder(replace(found, sample=None), encoding, target, weights, of_class)
    numbered = zip(parts, rows.first_rows(), strict=True)
    encoded = [fit.submit("encode-part", encode_part, encoder, *p, first) for p, first in numbered]
    blocks = [each for each, n in zip(encoded, rows.n_rows[0], strict=True) if n]
    fit.wait(blocks, lambda _: None)
    samples = [fit.submit("sample-rows", sample_of, each, found.sample_rows) for each in blocks]
    sample = np.asfortranarray(np.concatenate([fit.result(each) for each in samples]))
    fit.drop(samples)
    fit.release_parts()
    encoding = finish_encoding(encoding, sample, n_threads)
    table = known_table(found, encoding, sample, target, weights, of_class)
    shares = share_out(_space(fit), found.n_rows, table.n_features, False)
    at_workers = DaskBlocks(fit, blocks, table.columns)
    yield ReadTable(at_workers, table, found.names, classes_of(target), shares)


def _space(fit: Fit) -> int:
    limits = [worker.memory for worker in workers_of(fit.client) if worker.memory is not None]
    return min([MAX_SPACE, *(limit // 4 for limit in limits)])


def _aligned(fit: Fit, rows: PartedRows) -> list[tuple[Any, Any, Any]]:
    """Parts of X, y and weights with matching rows."""
    columns = [_cut_like(fit, rows.y, rows.n_rows[1], rows.n_rows[0])]
    if rows.sample_weight is None:
        columns.append([None] * len(rows.X))
    else:
        columns.append(_cut_like(fit, rows.sample_weight, rows.n_rows[2], rows.n_rows[0]))
    return list(zip(rows.X, *columns, strict=True))


def _cut_like(fit: Fit, parts: list[Any], sizes: Sequence[int], wanted: Sequence[int]) -> list[Any]:
    """Parts of a column, cut like those of X."""
    if list(sizes) == list(wanted):
        return parts
    starts = list(itertools.accumulate(sizes, initial=0))
    cut = []
    for first, last in itertools.pairwise(itertools.accumulate(wanted, initial=0)):
        chosen = [i for i in range(len(parts)) if starts[i + 1] > first and starts[i] < last]
        chosen = chosen or [0]
        start = min(first - starts[chosen[0]], sizes[chosen[0]])
        arguments = ([parts[i] for i in chosen], start, start + last - first)
        cut.append(fit.submit("cut-part", slice_rows, *arguments))
    return cut
