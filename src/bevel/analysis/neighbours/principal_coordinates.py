"""Principal coordinates: rows as points whose distances approximate one minus the proximity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from bevel._types import Floats
from bevel.analysis.analysed_forest import check_count, read_forest
from bevel.analysis.neighbours.proximity import KINDS, LeafTable, read_leaves
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame

__all__ = ["PrincipalCoordinates", "principal_coordinates"]


MAX_DENSE = 2000  # rows; for more, Lanczos' method is faster than all eigenvalues


@dataclass(frozen=True, eq=False, repr=False)
class PrincipalCoordinates(PrintedResult):
    """Rows in the principal coordinates of their distances, from `principal_coordinates`.

    Attributes
    ----------
    coordinates : ndarray of float64, shape (n, n_components)
        Position of each row; columns are centred and uncorrelated, and their squares sum to the
        eigenvalues.
    eigenvalues : ndarray of float64, shape (n_components,)
        Largest eigenvalues of the centred matrix, descending.
    explained : ndarray of float64, shape (n_components,)
        Share of the total variation, the sum of all eigenvalues.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    """

    coordinates: Floats
    eigenvalues: Floats
    explained: Floats
    kind: str

    def to_pandas(self) -> Any:
        """A line for each row, a column for each coordinate, from 1 on."""
        columns = {place + 1: values for place, values in enumerate(self.coordinates.T)}
        return data_frame(columns, index="row")

    def _printed(self) -> PrintedTable:
        n, d = self.coordinates.shape
        title = f"Principal coordinates of {n} rows, {KINDS[self.kind]}: variation explained"
        shares = zip(range(d), self.explained, np.cumsum(self.explained), strict=True)
        lines = [(str(a + 1), f"{share:.1%}", f"{total:.1%}") for a, share, total in shares]
        return PrintedTable(title, ("coordinate", "explained", "sum"), lines)


def principal_coordinates(
    forest: object, X: Any, y: Any = None, *, kind: str = "oob", n_components: int = 2
) -> PrincipalCoordinates:
    """Points in few dimensions whose distances are close to √(1 − proximity).

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted classifier or regressor.
    X : table of shape (n_rows, n_features)
        Rows to place. For "oob" and "in_bag" those of the fit, in their order.
    y : array-like of shape (n_rows,), default=None
        Targets of the fit; ignored for "all".
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row.
    n_components : int, default=2
        Number of dimensions.

    Returns
    -------
    PrincipalCoordinates
        Positions, and the share of the variation that each dimension explains.

    Notes
    -----
    The squared distances D² = 1 − P are centred, −½ J D² J = ½ J P J with J = I − 11ᵀ/n, and the
    coordinates are eigenvectors times the square roots of their eigenvalues. The sign of a
    coordinate is arbitrary; here its largest entry is positive. By all trees P is positive
    semidefinite; out-of-bag proximities, whose pairs depend on different trees, may have small
    negative eigenvalues, which are part of the sum in `explained`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import principal_coordinates
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> principal_coordinates(forest, X, y).coordinates.shape
    (150, 2)
    """
    analysed = read_forest(forest, "principal_coordinates", leaves_only=True, several_outputs=True)
    n_components = check_count("n_components", n_components)
    table = read_leaves(analysed, X, y, kind)
    solve = _solve_dense if table.n_rows <= MAX_DENSE else _solve_sparse
    eigenvalues, vectors, total = solve(table, min(n_components, table.n_rows))
    lacking = n_components - len(eigenvalues)
    eigenvalues = np.pad(np.maximum(eigenvalues, 0.0), (0, lacking))
    vectors = np.pad(vectors, ((0, 0), (0, lacking)))
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    coordinates = vectors * np.where(largest < 0.0, -1.0, 1.0) * np.sqrt(eigenvalues)
    # Rows that share all leaves have no variation.
    explained = eigenvalues / total if total > 1e-12 * table.n_rows else np.zeros(n_components)
    return PrincipalCoordinates(coordinates, eigenvalues, explained, kind)


def _solve_dense(table: LeafTable, n_components: int) -> tuple[Floats, Floats, float]:
    """Largest eigenvalues, their vectors as columns, and the sum of all eigenvalues."""
    matrix = table.own().toarray() / 2.0
    matrix -= matrix.mean(axis=0)
    matrix -= matrix.mean(axis=1)[:, None]
    first, last = table.n_rows - n_components, table.n_rows - 1
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(first, last))
    if len(values) < n_components:  # LAPACK may find too few among equal eigenvalues
        values, vectors = (found[..., first:] for found in scipy.linalg.eigh(matrix))
    return values[::-1], vectors[:, ::-1], float(np.trace(matrix))


def _solve_sparse(table: LeafTable, n_components: int) -> tuple[Floats, Floats, float]:
    """Largest eigenvalues, vectors and their sum, by products with the matrix, never made dense."""
    n = table.n_rows
    multiply = _multiplier(table)
    centred = scipy.sparse.linalg.LinearOperator(
        (n, n), matvec=lambda v: _centre(multiply(_centre(v))) / 2.0, dtype=np.float64
    )
    start = _centre(np.random.default_rng(0).standard_normal(n))
    # The largest in value, not in magnitude: out of bag some are far below zero.
    values, vectors = scipy.sparse.linalg.eigsh(
        centred, min(n_components, n - 1), which="LA", v0=start
    )
    order = np.argsort(values)[::-1]
    total = (n - float(multiply(np.ones(n)).sum()) / n) / 2.0
    return values[order], vectors[:, order], total


def _multiplier(table: LeafTable) -> Callable[[Floats], Floats]:
    """Product of the matrix of proximities with a vector.

    By all trees the matrix is Z Zᵀ / n_trees, where Z indicates the leaves of the rows; otherwise
    the pairs that share a leaf are stored.
    """
    if table.kind == "all":
        Z = table.indicator()
        back = Z.T.tocsr()
        return lambda v: np.asarray(Z @ (back @ v)) / table.n_trees
    # The upper triangle only, which halves the memory, in blocks.
    blocks = [(rows, sp.triu(P, rows.start + 1, "csr")) for rows, P in table.blocks()]

    def multiply(v: Floats) -> Floats:
        product = v.copy()
        for rows, above in blocks:
            product[rows] += above @ v
            product += above.T @ v[rows]
        return product

    return multiply


def _centre(v: Floats) -> Floats:
    flat: Floats = np.ravel(v)
    return flat - float(flat.mean())
