"""Base of the classifier and the regressor: parameters and tables checked, training called."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from bevel._types import Floats
from bevel.data.dataset import Dataset, encode_dataset, learn_dataset
from bevel.data.outputs import refused_with_outputs
from bevel.data.row_numbers import warn_of_row_numbers
from bevel.data.scaling import automatic_scale
from bevel.data.tables import Table
from bevel.errors import shorten
from bevel.estimators._compression import Compression
from bevel.estimators._doc_link import LinksToDocuments
from bevel.estimators._growing import Grown, PreparedFit, TreeGrowth, shape_of
from bevel.estimators._named_parameters import NamedParameters
from bevel.estimators._reading import TableInput
from bevel.estimators._warm_start import WarmStart
from bevel.estimators._whole_fits import whole_or_not_at_all
from bevel.estimators.scanned.fitting import fit_scanned
from bevel.estimators.several_outputs.outputs import SeveralOutputs
from bevel.files.model import StoredEstimator
from bevel.forest.bags import Bags
from bevel.forest.calibration import raise_to_power
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import FlatForest
from bevel.forest.kept_targets import KeptTargets
from bevel.forest.out_of_bag import OutOfBag, out_of_bag_blocks, predict_out_of_bag
from bevel.forest.predictor import PackedPredictor
from bevel.forest.records.family_record import FamilyRecord
from bevel.forest.records.survival_record import SurvivalRecord
from bevel.parameters.constraints import Parameter
from bevel.parameters.forest_parameters import check_each
from bevel.projections.families import (
    Member,
    combines_units,
    read_projection,
    tuned_out_of_bag,
)
from bevel.scanning import ScannedTable
from bevel.training.automatic.candidates import SHARED_SCALE
from bevel.training.feature_constraints import check_directions, read_constraints
from bevel.training.options import (
    TrainingOptions,
    check_combinations,
    draw_seed,
    draws_bags,
    resolve_options,
)
from bevel.training.threads import count_threads
from bevel.training.trainer import TrainingTarget

OF_OUT_OF_BAG = ("oob_score_", "oob_prediction_", "oob_decision_function_")


class ObliqueForest(
    SeveralOutputs,
    Compression,
    TreeGrowth,
    WarmStart,
    NamedParameters,
    TableInput,
    LinksToDocuments,
    BaseEstimator,  # type: ignore[misc]
    metaclass=ABCMeta,
):
    """Base of the forests; not used by itself."""

    _parameters: ClassVar[Mapping[str, Parameter]]

    @abstractmethod
    def _read_target(
        self, y: Any, sample_weight: Any, n_rows: int, draws_bags: bool
    ) -> TrainingTarget:
        """Check y and the weights, and set the attributes that depend on them."""

    @abstractmethod
    def _set_out_of_bag(self, estimates: OutOfBag, target: TrainingTarget) -> None:
        """Set the attributes that hold out-of-bag estimates."""

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, data frame, sparse matrix of shape (n_rows, n_features), or scanned table
            Training rows: NumPy arrays, pandas, polars and pyarrow tables, SciPy sparse matrices
            (made dense, in float32). NaN, None and masked entries are missing
            values; infinities raise. Dates and times become days since 1970-01-01 (UTC). A table
            of `bevel.scan` need not fit in memory, and brings its targets and weights.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Targets; None with a scanned table. With several columns all of them are predicted by
            the same trees: the impurity that splits remove is summed over the outputs, in
            regression after division by their variances.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, zero or more, the largest from 1e-15 to 1e15; None weighs all rows
            equally. Nothing is learnt from a row of weight zero, though it is counted among the
            rows that bags are drawn from. Weights below 1e-20 of the largest count as that much.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        for name in OF_OUT_OF_BAG:  # left by an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(X, ScannedTable):
            fit_scanned(self, X, y, sample_weight)
            return self
        values, members = self._checked_parameters()
        n_threads = count_threads(self.n_jobs)
        before = self._trees_to_keep()
        prepared = self._prepare((X, y, sample_weight), values, members, before)
        grown = self._grow(prepared, before, n_threads)
        self._finish(prepared, grown, before, n_threads)
        return self

    def _checked_parameters(self) -> tuple[dict[str, Any], Sequence[Member]]:
        """Parameters of a fit, checked singly and together, and the projections among them."""
        values = self._settings()
        check_each(values, self._parameters)
        members = read_projection(values["projection"], values["n_projections"])
        values["bootstrap"] = draws_bags(values["bootstrap"], members)
        self._check_combinations(values, members)
        return values, members

    def _prepare(
        self,
        training: tuple[Any, Any, Any],
        values: Mapping[str, Any],
        members: Sequence[Member],
        before: FittedForest | None,
        seed: int | None = None,
    ) -> PreparedFit:
        """Read and encode the training rows (X, y and weights), and resolve the options.

        The seed is drawn from `random_state` unless it is given.
        """
        X, y, sample_weight = training
        table = self._read(X, y, reset=before is None)
        target = self._read_target(y, sample_weight, table.n_rows, values["bootstrap"])
        self.n_outputs_ = 1 if target.outputs is None else len(target.outputs)
        dataset = self._dataset(table, members, before, target.weights)
        if before is None:
            warn_of_row_numbers(table, dataset.encoding.levels, target.values, target.n_classes)
        if seed is None:
            seed = draw_seed(self.random_state) if before is None else self._warm_start_seed()
        options = resolve_options(values, members, shape_of(dataset), seed)
        options = _constrained(options, values, members, table, dataset, target)
        bags = self._bags(options, table.n_rows, before)
        return PreparedFit(dataset, target, options, bags, values, members)

    def _finish(
        self, prepared: PreparedFit, grown: Grown, before: FittedForest | None, n_threads: int
    ) -> None:
        """Set the trees, and the attributes that depend on the training rows."""
        self._remember(prepared, grown, before, n_threads)
        if self._needs_out_of_bag(prepared, grown.families is not None):
            arguments = (self._fitted, prepared.dataset.X, n_threads, prepared.target.weights)
            if self.oob_score:
                self._use_out_of_bag(predict_out_of_bag(*arguments), prepared)
                return
            # Only the power depends on the estimates, which need not all be in memory at once.
            power = self._power_of(out_of_bag_blocks(*arguments), prepared.target)
            self._fitted = replace(self._fitted, power=power)

    def _remember(
        self, prepared: PreparedFit, grown: Grown, before: FittedForest | None, n_threads: int
    ) -> None:
        """Set the fitted forest, before out-of-bag predictions are used."""
        dataset, target, options = prepared.dataset, prepared.target, prepared.options
        values, forest = prepared.values, grown.forest
        self._fitted = FittedForest(
            predictor=PackedPredictor(forest),
            encoding=dataset.encoding,
            feature_names=self._names_of_columns(),
            classes=getattr(self, "classes_", None) if target.outputs is None else None,
            hard=values.get("voting") == "hard",
            bags=prepared.bags,
            seed=options.seed,
            class_weight=values.get("class_weight"),
            tuned_out_of_bag=tuned_out_of_bag(prepared.members),
            targets=self._targets_to_keep(forest, dataset, target, options, before, n_threads),
            rotations=grown.rotations,
            families=grown.families,
            survival=_record_of(target),
            outputs=target.outputs,
        )

    def _needs_out_of_bag(self, prepared: PreparedFit, families: bool) -> bool:
        """Whether out-of-bag predictions are needed; families: whether families share the trees."""
        return self.oob_score or self._calibrates(prepared, families)

    def _calibrates(self, prepared: PreparedFit, families: bool) -> bool:
        """Whether the power of the probabilities is to be chosen."""
        values, bags = prepared.values, prepared.bags
        how = values.get("calibration")
        if prepared.target.outputs is not None:  # "power" has been refused before
            return False
        if how == "auto":
            leaves_out = bags is not None and prepared.options.leaves_rows_out(bags.n_rows)
            votes = values.get("voting") == "hard"  # probabilities are shares of votes
            return families and leaves_out and not votes
        return how is not None

    def _use_out_of_bag(self, estimates: OutOfBag, prepared: PreparedFit) -> None:
        """Choose the power of the probabilities, and set out-of-bag estimates."""
        target = prepared.target
        if self._calibrates(prepared, self._fitted.families is not None):
            power = self._power_of(estimates.blocks(), target)
            raise_to_power(estimates.predictions, power)
            self._fitted = replace(self._fitted, power=power)
        if self.oob_score:
            estimates.warn_of_unknown()
            self._set_out_of_bag(estimates, target)

    def _power_of(
        self,
        blocks: Iterable[tuple[slice, OutOfBag]],  # noqa: ARG002
        target: TrainingTarget,  # noqa: ARG002
    ) -> float:
        """The power of the probabilities; 1 in regression, which has none.

        blocks: out-of-bag estimates of consecutive rows.
        """
        return 1.0

    @property
    def families_(self) -> FamilyRecord:
        """The families that share the trees, with their out-of-bag errors; for "auto" only."""
        families = self.fitted_forest_.families
        if families is None:
            raise AttributeError(
                'families_ is an attribute of forests with projection="auto", whose families share '
                f"the trees; got projection={shorten(self.projection)}."
            )
        return families

    def _to_store(self) -> StoredEstimator:
        return StoredEstimator(
            type(self).__name__,
            self._own_parameters(),
            self.fitted_forest_,
            getattr(self, "oob_score_", None),
        )

    def _settings(self) -> dict[str, Any]:
        """Parameters of a fit by name, including those that the user cannot set."""
        return self._own_parameters()

    def _check_combinations(self, values: Mapping[str, Any], members: Sequence[Member]) -> None:
        """Raise if parameters contradict each other, regardless of the data."""
        check_combinations(values, members)

    def _dataset(
        self,
        table: Table,
        members: Sequence[Member],
        before: FittedForest | None,
        weights: Floats | None,
    ) -> Dataset:
        n_threads = count_threads(self.n_jobs)
        if before is not None:
            return encode_dataset(table, before.encoding, n_threads)
        scale = self._scale_for(members)
        counted = None if weights is None or weights.all() else weights > 0.0
        return learn_dataset(table, self.categorical_features, scale, n_threads, counted)

    def _scale_for(self, members: Sequence[Member]) -> str | None:
        if self.scale != "auto":
            return self.scale  # type: ignore[no-any-return]
        if not members:
            return SHARED_SCALE
        return automatic_scale(combines_units(members))

    def _bags(
        self, options: TrainingOptions, n_rows: int, before: FittedForest | None
    ) -> Bags | None:
        """How bags are drawn; None if the trees of an earlier fit have other bags."""
        bags = Bags(n_rows, options.bag_size, options.replace, options.seed)
        if before is None or before.bags == bags:
            return bags
        calibrates = getattr(self, "calibration", None) == "power"
        if self.oob_score or calibrates:
            asked, off = ("calibration", None) if calibrates else ("oob_score", False)
            # Out-of-bag estimates draw the bags of all trees again, which must be drawn in one way.
            old = before.bags and (before.bags.n_rows, before.bags.size, before.bags.replace)
            raise ValueError(
                f"{asked} with warm_start needs the same number of rows, max_samples and replace "
                f"in every fit; got {(n_rows, bags.size, bags.replace)} after {old} (rows, draws, "
                f"replace). Keep them, or set {asked}={off}."
            )
        return None

    def _targets_to_keep(
        self,
        forest: FlatForest,  # noqa: ARG002
        dataset: Dataset,  # noqa: ARG002
        target: TrainingTarget,  # noqa: ARG002
        options: TrainingOptions,  # noqa: ARG002
        before: FittedForest | None,  # noqa: ARG002
        n_threads: int,  # noqa: ARG002
    ) -> KeptTargets | None:
        """Training targets of the leaves, if they are requested."""
        return None


def _constrained(
    options: TrainingOptions,
    values: Mapping[str, Any],
    members: Sequence[Member],
    table: Table,
    dataset: Dataset,
    target: TrainingTarget,
) -> TrainingOptions:
    """Options with the constraints of the estimator; raises if they cannot be satisfied."""
    monotonic_cst, interaction_cst = values.get("monotonic_cst"), values.get("interaction_cst")
    if monotonic_cst is None and interaction_cst is None:
        return options
    levels = dataset.encoding.levels
    constraints = read_constraints(monotonic_cst, interaction_cst, table, levels)
    if constraints.monotone and target.outputs is not None:
        remedy = "Leave it out, or fit one forest per output."
        raise refused_with_outputs("monotonic_cst", monotonic_cst, "None", remedy)
    constraints.check_classes(0 if target.outputs is not None else target.n_classes)
    check_directions(constraints, members, options.families, levels)
    return replace(options, monotone=constraints.monotone, interaction_groups=constraints.groups)


def _record_of(target: TrainingTarget) -> SurvivalRecord | None:
    """Survival record of a target; None unless it has right-censored times."""
    truth = target.counted_survival
    if truth is None:
        return None
    counted = slice(None) if target.weights is None else target.weights > 0.0
    last = float(truth.time[counted].max())
    return SurvivalRecord(truth.event_times, last, truth.n_causes)
