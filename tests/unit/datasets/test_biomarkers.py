"""The simulated study of biomarkers follows its definition.

Statistical checks fail with probability of about 1e-6 if it holds.
"""

import numpy as np
import pytest
from support.false_alarms import assert_covariance

from bevel import datasets


def test_biomarkers_have_the_shape_of_the_thesis_and_numbers_that_are_asked_for():
    X, y = datasets.biomarkers(random_state=0)
    assert X.shape == (34, 318)
    assert y.tolist() == [0] * 27 + [1] * 7
    assert np.bincount(datasets.biomarkers(10, 22, random_state=0)[1]).tolist() == [10, 22]
    again = datasets.biomarkers(random_state=np.random.default_rng(0))[0]
    np.testing.assert_array_equal(X, again)


@pytest.mark.parametrize("n_features", [6, 7, 8])
def test_biomarkers_shift_two_features_and_correlate_those_of_a_protein(n_features):
    """Means of cases (4, 2.5, 0, ...), correlation 1/2 of features a protein apart, else 0."""
    controls, _ = datasets.biomarkers(20_000, 0, n_features, random_state=1)
    cases, _ = datasets.biomarkers(0, 20_000, n_features, random_state=2)
    n_proteins = {6: 2, 7: 3, 8: 3}[n_features]
    protein = np.arange(n_features) % n_proteins
    covariance = 0.5 * (protein[:, None] == protein) + 0.5 * np.eye(n_features)
    assert_covariance(controls, np.zeros(n_features), covariance)
    assert_covariance(cases, np.array([4.0, 2.5] + [0.0] * (n_features - 2)), covariance)


@pytest.mark.parametrize("changes", [{"n_features": 5}, {"n_cases": -1}])
def test_biomarkers_refuse_too_few(changes):
    with pytest.raises(ValueError, match="or more; got"):
        datasets.biomarkers(**changes)
    with pytest.raises(ValueError, match=r"n_controls \+ n_cases must be 1 or more"):
        datasets.biomarkers(0, 0)
