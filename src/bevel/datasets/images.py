"""Simulated images, for directions on patches of neighbouring pixels."""

import numpy as np

from bevel.datasets.conventions import Labelled, RandomState, check_at_least
from bevel.errors import wrong_value

__all__ = ["bars"]


def bars(
    n_samples: int = 100,
    image_size: int = 20,
    n_lines: int = 5,
    *,
    random_state: RandomState = None,
) -> Labelled:
    """Images of horizontal or vertical bars, randomly sized and spaced.

    An image is black (0) but for `n_lines` white (1) rows, if its class is 0, or as many white
    columns, if it is 1, each set of lines equally likely. Lines side by side merge to thicker bars.
    A pixel is white with probability ``n_lines / image_size`` in both classes, so that none is
    informative by itself; two neighbours are. The Bayes error is 0.

    Parameters
    ----------
    n_samples : int, default=100
        Rows: one image each.
    image_size : int, default=20
        Pixels along each side of the square image.
    n_lines : int, default=5
        White rows or columns; at least 1 and fewer than `image_size`.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, image_size ** 2)
        0 or 1, one image row after the other: ``X.reshape(-1, image_size, image_size)`` has
        horizontal lines along its last axis.
    y : ndarray of int64, shape (n_samples,)
        0 for horizontal bars, 1 for vertical ones, equally likely.

    Notes
    -----
    The thesis shows the images without saying how they were drawn. Size, number of lines and the
    way to place them are those of the author's public script of "image stripes", whose sample sizes
    (10, 20 and 50 images) fit its figure.

    References
    ----------
    Thesis section 3.3.8 and Figure 3.11: T. M. Tomita, *Generalized Linear Splitting Rules in
    Decision Forests*, Johns Hopkins University.

    Examples
    --------
    >>> X, y = bars(n_samples=10, random_state=0)
    >>> images = X.reshape(-1, 20, 20)
    >>> bool((images[y == 0].min(axis=2) == images[y == 0].max(axis=2)).all())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("image_size", image_size, 2)
    if not 1 <= n_lines < image_size:
        required = f"at least 1 and below image_size ({image_size})"
        raise wrong_value("n_lines", required, n_lines, "Otherwise both classes look the same.")
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    white = np.tile(np.arange(image_size) < n_lines, (n_samples, 1))
    white = rng.permuted(white, axis=1)
    across, down = white[:, :, None], white[:, None, :]
    images = np.where(y[:, None, None] == 0, across, down)  # either spreads over the other axis
    return images.reshape(n_samples, -1).astype(np.float64), y
