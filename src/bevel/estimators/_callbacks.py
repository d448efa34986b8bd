"""Callbacks of scikit-learn, which it has from 1.9 on: progress bars and monitors of its own.

A fit is a task of the estimator, and each finished tree or iteration one of its parts. Parts are
told as often as our `callback` is called, a few times a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """In the place of scikit-learn's class: there are no callbacks to set."""

    def with_callbacks(method: Any) -> Any:
        """In the place of scikit-learn's decorator."""
        return method


__all__ = ["CallbackSupportMixin", "fit_with_callbacks", "has_callbacks"]

Result = TypeVar("Result")


def has_callbacks(estimator: object) -> bool:
    """Whether callbacks were set, on the estimator or on one that fits it."""
    known = vars(estimator)
    return isinstance(estimator, CallbackSupportMixin) and (
        bool(known.get("_skl_callbacks")) or "_parent_callback_ctx" in known
    )


@with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
def fit_with_callbacks(
    estimator: Any, working: Any, fit: Callable[[], Result], X: Any, y: Any
) -> Result:
    """Fit, and tell the callbacks of scikit-learn what is begun and finished.

    Parameters
    ----------
    estimator : estimator
        The estimator that has the callbacks.
    working : estimator
        The copy that `fit` fits, with a `callback` if it has that parameter.
    fit : callable
        Fits the copy.
    X, y : object
        The table and the targets, as they were given.
    """
    task = estimator._init_callback_context(max_subtasks=None)
    task.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    own, n_told = getattr(working, "callback", None), 0

    def tell(n_done: int, n_total: int) -> None:
        nonlocal n_told
        for _ in range(n_told, n_done):
            part = task.subcontext(task_name="iteration")
            part.call_on_fit_task_begin(estimator=estimator)
            part.call_on_fit_task_end(estimator=estimator)
        n_told = max(n_told, n_done)
        if own is not None:
            own(n_done, n_total)

    if "callback" in vars(working):
        working.callback = tell
    try:
        result = fit()
    finally:
        if "callback" in vars(working):
            working.callback = own
    fitted = dict(vars(working))
    task.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=fitted)
    return result
