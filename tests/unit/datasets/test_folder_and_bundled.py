"""The simulated problems follow their definitions; folders of CSV are read as they are described.

Statistical checks state their null, and fail with probability of about 1e-6 if it holds.
"""

import gzip
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import assert_share

from bevel import datasets
from bevel.extras import MissingPackageError

FALSE_ALARM = 1e-7  # of each check; a test makes at most ten


def test_sparse_parity_labels_are_the_parity_of_positive_informative_features():
    X, y = datasets.sparse_parity(500, n_features=9, n_informative=4, random_state=1)
    for row, label in zip(X, y, strict=True):
        positive = sum(1 for value in row[:4] if value > 0)
        assert label == positive % 2


def test_sparse_parity_features_are_uniform_and_labels_independent_of_any_two():
    X, y = datasets.sparse_parity(20_000, n_features=5, random_state=2)
    assert X.min() > -1
    assert X.max() < 1
    for feature in X.T:
        assert stats.kstest(feature, stats.uniform(-1, 2).cdf).pvalue > FALSE_ALARM
    assert_share(y == 1, 0.5)
    assert_share(((X[:, 0] > 0) ^ (X[:, 1] > 0)) == y, 0.5)


def test_sparse_parity_with_more_informative_features_than_features_is_refused():
    with pytest.raises(ValueError, match=r"n_informative must be at most n_features \(3\); got 4"):
        datasets.sparse_parity(10, n_features=3, n_informative=4)


def test_orthant_labels_name_the_orthant_and_only_it():
    X, y = datasets.orthant(3000, n_features=4, random_state=3)
    orthants = {tuple(signs): label for signs, label in zip(X > 0, y, strict=True)}
    assert len(orthants) == len(set(orthants.values())) == 16
    assert all(orthants[tuple(signs)] == label for signs, label in zip(X > 0, y, strict=True))
    assert set(orthants.values()) == set(range(16))


def test_orthant_classes_are_equally_likely():
    X, y = datasets.orthant(12_800, random_state=4)
    assert np.abs(X).max() < 1
    assert stats.chisquare(np.bincount(y, minlength=64)).pvalue > FALSE_ALARM


def test_orthant_with_labels_beyond_64_bits_is_refused():
    with pytest.raises(ValueError, match="n_features must be at most 62"):
        datasets.orthant(10, n_features=63)


def test_trunk_class_means_and_covariance_follow_the_definition():
    X, y = datasets.trunk(40_000, n_features=5, random_state=5)
    assert_share(y == 1, 0.5)
    mean = [1 / math.sqrt(j) for j in range(1, 6)]
    for label, sign in ((0, -1), (1, 1)):
        rest = X[y == label] - sign * np.array(mean)
        scores = rest.mean(axis=0) * math.sqrt(len(rest))  # standard normal under the null
        assert np.abs(scores).max() < stats.norm.isf(FALSE_ALARM / 2)
        squares = (rest**2).sum()  # chi-squared with one degree of freedom for each cell
        tails = stats.chi2.cdf(squares, rest.size), stats.chi2.sf(squares, rest.size)
        assert min(tails) > FALSE_ALARM


def test_trunk_bayes_rule_errs_as_often_as_documented():
    X, y = datasets.trunk(50_000, random_state=6)
    mean = 1 / np.sqrt(np.arange(1, 11))
    bayes_error = stats.norm.cdf(-math.sqrt(sum(1 / j for j in range(1, 11))))
    assert round(bayes_error, 4) == 0.0435
    assert_share((X @ mean > 0) != y, bayes_error)


def naive_consistency_label(first: float, second: float, n_stripes: int) -> int:
    square = int(first)
    if square == 1:
        return int((first >= 1.5) != (second >= 1.5))
    along = first if square == 0 else second - 2
    return int(along * n_stripes) % 2


@pytest.mark.parametrize("n_stripes", [1, 2, 7, 64])
def test_consistency_labels_are_stripes_and_a_checkerboard(n_stripes):
    X, y = datasets.consistency(2000, n_stripes, random_state=7)
    labels = [naive_consistency_label(first, second, n_stripes) for first, second in X]
    np.testing.assert_array_equal(y, labels)


def test_consistency_rows_are_uniform_on_three_squares():
    X, y = datasets.consistency(30_000, 10, random_state=8)
    square = np.floor(X)
    np.testing.assert_array_equal(square[:, 0], square[:, 1])
    assert stats.chisquare(np.bincount(square[:, 0].astype(int))).pvalue > FALSE_ALARM
    for feature in (X - square).T:
        assert stats.kstest(feature, "uniform").pvalue > FALSE_ALARM
    assert_share(y == 1, 0.5)


def test_parallel_hyperplanes_lie_on_either_side_of_the_slanted_cut():
    X, y = datasets.parallel_hyperplanes(5000, random_state=9)
    distance = np.where(y == 1, 1, -1) * (X[:, 0] + X[:, 1])
    assert distance.min() > 0  # ten standard deviations from the cut
    assert stats.kstest(distance, stats.norm(0.1, 0.01).cdf).pvalue > FALSE_ALARM
    assert_share(y == 1, 0.5)


def test_parallel_hyperplanes_other_features_are_uniform_and_say_nothing():
    X, y = datasets.parallel_hyperplanes(5000, n_features=4, random_state=10)
    for feature in (X[:, 0], X[:, 2], X[:, 3]):
        assert stats.kstest(feature, stats.uniform(-0.5, 1).cdf).pvalue > FALSE_ALARM
        assert stats.ks_2samp(feature[y == 0], feature[y == 1]).pvalue > FALSE_ALARM


def test_parallel_hyperplanes_with_wide_noise_cross_as_often_as_documented():
    X, y = datasets.parallel_hyperplanes(20_000, noise=0.1, random_state=11)
    assert_share((X[:, 0] + X[:, 1] > 0) != y, stats.norm.cdf(-1))


@pytest.mark.parametrize("noise", [-0.1, math.nan, math.inf])
def test_parallel_hyperplanes_with_impossible_noise_are_refused(noise):
    with pytest.raises(ValueError, match="noise must be finite and not negative"):
        datasets.parallel_hyperplanes(10, noise=noise)


@pytest.mark.parametrize(
    ("load", "shape", "n_classes"),
    [
        (datasets.load_iris, (150, 4), 3),
        (datasets.load_wine, (178, 13), 3),
        (datasets.load_breast_cancer, (569, 30), 2),
        (datasets.load_digits, (1797, 64), 10),
        (datasets.load_diabetes, (442, 10), 214),
    ],
)
def test_bundled_loader_gives_the_set_it_names(load, shape, n_classes):
    X, y = load()
    assert X.shape == shape
    assert len(np.unique(y)) == n_classes


def test_bundled_loader_as_frame_keeps_column_names():
    frame, _ = datasets.load_iris(as_frame=True)
    assert "sepal length (cm)" in frame.columns


def test_bundled_loader_as_frame_without_pandas_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="pip install 'pandas'"):
        datasets.load_iris(as_frame=True)


INDEX = "name,n,p_num,p_cat,n_classes,categorical_columns,source,note"


def write_set(folder: Path, name: str, rows: list[str]) -> None:
    with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8") as stream:
        stream.write("\n".join(rows) + "\n")


def write_index(folder: Path, *lines: str) -> None:
    (folder / "index.csv").write_text("\n".join((INDEX, *lines)) + "\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_index(
        tmp_path,
        'flags,4,2,2,2,colour;shape,somewhere,"a note, with a comma"',
        "heat,3,1,0,,,somewhere,",
        "lost,9,1,0,2,,somewhere,its file is absent",
    )
    write_set(
        tmp_path,
        "flags",
        [
            "size,colour,shape,weight,target",
            "1,red,round,0.5,yes",
            "2,,square,,no",
            '3,"blue, dark",round,1e-3,yes',
            "4,red,round,-7,no",
        ],
    )
    write_set(tmp_path, "heat", ["t,target", "1,0.5", ",1.5", "3,2.5"])
    return tmp_path


def test_folder_lists_its_sets_without_those_whose_file_is_absent(folder):
    entries = datasets.load_folder(folder)
    assert [entry.name for entry in entries] == ["flags", "heat"]
    assert [entry.task for entry in entries] == ["classification", "regression"]
    assert entries[0].n_rows == 4
    assert entries[0].note == "a note, with a comma"


def test_folder_reads_no_file_before_it_is_asked_to(folder):
    (folder / "flags.csv.gz").write_bytes(b"not a gzip file")
    flags, heat = datasets.load_folder(folder)
    assert heat.load().X.shape == (3, 1)
    with pytest.raises(gzip.BadGzipFile):
        flags.load()


def test_folder_entry_codes_nominal_columns_and_keeps_missing_values(folder):
    table = datasets.load_folder(folder)[0].load()
    assert table.feature_names == ("size", "colour", "shape", "weight")
    assert table.categorical_features.tolist() == [False, True, True, False]
    assert table.levels == {"colour": ("blue, dark", "red"), "shape": ("round", "square")}
    expected = [[1, 1, 0, 0.5], [2, math.nan, 1, math.nan], [3, 0, 0, 0.001], [4, 1, 0, -7]]
    np.testing.assert_array_equal(table.X, expected)
    assert table.y.tolist() == ["yes", "no", "yes", "no"]


def test_folder_entry_of_a_regression_has_a_numeric_target(folder):
    table = datasets.load_folder(folder)[1].load()
    assert table.y.tolist() == [0.5, 1.5, 2.5]
    np.testing.assert_array_equal(table.X[:, 0], [1, math.nan, 3])


def test_folder_entry_longer_than_a_block_is_read_whole(folder):
    rows = [f"{number},{'abc'[number % 3]},{number % 2}" for number in range(4501)]
    write_set(folder, "long", ["a,b,target", *rows])
    write_index(folder, "long,4501,1,1,2,b,,")
    table = datasets.load_folder(folder)[0].load()
    np.testing.assert_array_equal(table.X[:, 0], np.arange(4501))
    np.testing.assert_array_equal(table.X[:, 1], np.arange(4501) % 3)
    np.testing.assert_array_equal(table.y.astype(int), np.arange(4501) % 2)


def test_table_as_frame_has_categories_and_missing_values(folder):
    frame = datasets.load_folder(folder)[0].load().to_frame()
    assert [str(dtype) for dtype in frame.dtypes] == ["float64", "category", "category", "float64"]
    assert frame["colour"].isna().tolist() == [False, True, False, False]
    assert frame["colour"].iloc[2] == "blue, dark"


def test_folder_without_index_says_what_is_needed(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no index\.csv.*categorical_columns"):
        datasets.load_folder(tmp_path)


def test_folder_whose_index_lacks_columns_names_them(tmp_path):
    (tmp_path / "index.csv").write_text("name,n\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the columns categorical_columns, n_classes"):
        datasets.load_folder(tmp_path)


def test_folder_entry_without_target_at_the_end_is_refused(folder):
    write_set(folder, "heat", ["target,t", "1,2"])
    with pytest.raises(ValueError, match=r"last column of heat\.csv\.gz must be called 'target'"):
        datasets.load_folder(folder)[1].load()


def test_folder_entry_lacking_a_nominal_column_of_the_index_names_it(folder):
    write_set(folder, "flags", ["size,colour,target", "1,red,yes"])
    with pytest.raises(ValueError, match=r"flags\.csv\.gz does not have: shape"):
        datasets.load_folder(folder)[0].load()
