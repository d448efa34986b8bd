"""`bevel.analysis` lists functions; `bevel.analysis.results` has the classes of their results."""

import inspect

import pytest

from bevel import analysis
from bevel.analysis import results


def test_dir_of_analysis_lists_functions_and_no_result_class():
    assert dir(analysis) == sorted(analysis.__all__)
    classes = [name for name in dir(analysis) if inspect.isclass(getattr(analysis, name))]
    assert classes == ["AllRelevantSelector", "ProximityImputer"]


def test_result_class_asked_of_analysis_is_the_one_of_results():
    assert all(getattr(analysis, name) is getattr(results, name) for name in results.__all__)


def test_unknown_attribute_of_analysis_raises_attribute_error():
    with pytest.raises(AttributeError, match=r"'bevel\.analysis' has no attribute 'Importances'"):
        _ = analysis.Importances
