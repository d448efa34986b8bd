"""Small real data sets that come with scikit-learn: no download, licences settled there.

Each loader returns ``(X, y)``: NumPy arrays, or a pandas frame and series with ``as_frame=True``.
"""

from collections.abc import Callable
from typing import Any

from bevel.extras import import_optional

__all__ = ["load_breast_cancer", "load_diabetes", "load_digits", "load_iris", "load_wine"]


def load_iris(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Three species of iris by four measurements: 150 rows, 4 features, 3 classes.

    Examples
    --------
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> X.shape
    (150, 4)
    """
    from sklearn.datasets import load_iris as load

    return _features_and_target(load, as_frame)


def load_wine(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Three cultivars of wine by chemical analysis: 178 rows, 13 features, 3 classes.

    Examples
    --------
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine(as_frame=True)
    >>> X.shape
    (178, 13)
    """
    from sklearn.datasets import load_wine as load

    return _features_and_target(load, as_frame)


def load_breast_cancer(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Malignant or benign from an image of cell nuclei: 569 rows, 30 features, 2 classes.

    Examples
    --------
    >>> from bevel.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(as_frame=True)
    >>> X.shape
    (569, 30)
    """
    from sklearn.datasets import load_breast_cancer as load

    return _features_and_target(load, as_frame)


def load_digits(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Handwritten digits, 8 × 8 pixels: 1797 rows, 64 features, 10 classes.

    Examples
    --------
    >>> from bevel.datasets import load_digits
    >>> X, y = load_digits(as_frame=True)
    >>> X.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits as load

    return _features_and_target(load, as_frame)


def load_diabetes(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Progress of diabetes after a year, a regression: 442 rows, 10 features.

    Examples
    --------
    >>> from bevel.datasets import load_diabetes
    >>> X, y = load_diabetes(as_frame=True)
    >>> X.shape
    (442, 10)
    """
    from sklearn.datasets import load_diabetes as load

    return _features_and_target(load, as_frame)


def _features_and_target(load: Callable[..., Any], as_frame: bool) -> tuple[Any, Any]:
    if as_frame:
        import_optional("pandas", needed_by="as_frame=True", install="pandas")
    X, y = load(return_X_y=True, as_frame=as_frame)
    return X, y
