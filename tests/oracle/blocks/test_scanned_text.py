"""Text files that are scanned are read as one file is read whole, whatever the blocks."""

import gzip

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel.scanning.sources import TextFiles
from bevel.tables import text as text_file
from bevel.tables.options import Source, TableOptions
from bevel.tables.table_file import open_table
from bevel.tables.text import TextBatches

RNG = np.random.default_rng(0)
CELLS = {
    "plain": ["1", "2.5", "-3e2", "", "NA", "?"],
    "whole": ["1", "2", "3"],
    "grouped": ["$1,234.50", "$17", "-", "$3"],
    "percent": ["5 %", "7.5 %", "n.a."],
    "labels": ["red", "green", "", "5"],
    "iso": ["2024-01-31", "1999-12-01T12:00:00", ""],
    "german": ["31.12.2024", "1.2.2023", "unknown"],
    "numbers, but for a slip": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "ten"],
    "empty": ["", "NA"],
}


def write(path, n_rows, seed, delimiter=","):
    """A file with a column of each kind."""
    rng = np.random.default_rng(seed)
    rows = [[f'"{rng.choice(cells)}"' for cells in CELLS.values()] for _ in range(n_rows)]
    header = [f'"{name}"' for name in CELLS]
    text = "\n".join(delimiter.join(row) for row in [header, *rows]) + "\n"
    path.write_text(text, encoding="utf-8")
    return text


def same(left, right):
    if right.dtype.kind == "O":
        return left.tolist() == right.tolist()
    return np.array_equal(left, right, equal_nan=True)


@pytest.fixture(params=[2**22, 2**10, 2**8], ids="{}-byte blocks".format)
def block_bytes(request, monkeypatch):
    monkeypatch.setattr(text_file, "MIN_BLOCK", request.param)
    monkeypatch.setattr(text_file, "ROWS_PER_BLOCK", 1)
    return request.param


@pytest.mark.parametrize("seed", range(5))
def test_columns_are_those_of_a_file_read_whole(tmp_path, block_bytes, seed):
    write(tmp_path / "rows.csv", 40, seed)
    whole = open_table(tmp_path / "rows.csv").read(list(CELLS)).columns
    features = [name for name in CELLS if name != "whole"]
    source = TextFiles([tmp_path / "rows.csv"], "whole", None, features, TableOptions())
    batches = list(source.batches())
    assert block_bytes > 2**10 or len(batches) > 1
    for place, name in enumerate(features):
        got = np.concatenate([batch.X.values[place] for batch in batches])
        assert same(got, whole.select([name]).values[0]), name
    assert {name for batch in batches for name in batch.X.dates} == set(whole.dates)
    y = np.concatenate([batch.y for batch in batches])
    assert y.dtype == np.int64  # whole numbers are labels as they are written
    assert y.tolist() == whole.select(["whole"]).values[0].tolist()


def test_types_hold_for_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,z,y\n1,1,0\n2,2,1\n")
    (tmp_path / "b.csv").write_text("x,z,y\nfew,?,0\n3,4.5,1\n")
    source = TextFiles([tmp_path / "a.csv", tmp_path / "b.csv"], "y", None, None, TableOptions())
    x = np.concatenate([batch.X.select(["x"]).values[0] for batch in source.batches()])
    z = np.concatenate([batch.X.select(["z"]).values[0] for batch in source.batches()])
    assert x.tolist() == ["1", "2", "few", "3"]
    np.testing.assert_array_equal(z, [1.0, 2.0, np.nan, 4.5])


def test_semicolons_decimal_commas_and_gzip(tmp_path):
    rows = [f"{a:.3f};{b:.2f};{int(a > b)}".replace(".", ",") for a, b in RNG.normal(size=(80, 2))]
    text = "\n".join(["a;b;y", *rows])
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text.encode()))
    model = bevel.ObliqueForestClassifier(n_estimators=5, projection="sparse", random_state=0)
    model.fit(bevel.scan(tmp_path / "rows.csv.gz", target="y"))
    values = np.array([row.replace(",", ".").split(";") for row in rows], dtype=float)
    direct = bevel.ObliqueForestClassifier(n_estimators=5, projection="sparse", random_state=0)
    direct.fit(bevel.scan(values[:, :2], target=values[:, 2].astype(int)))
    assert model.classes_.tolist() == [0, 1]
    frame = pd.DataFrame(values[:, :2], columns=["a", "b"])
    np.testing.assert_array_equal(model.predict_proba(frame), direct.predict_proba(values[:, :2]))


def test_a_column_that_names_the_rows_is_no_feature(tmp_path):
    rows = "".join(f"{i},{i % 7},{i % 2}\n" for i in range(30))
    (tmp_path / "pandas.csv").write_text(",x,y\n" + rows)
    table = bevel.scan(tmp_path / "pandas.csv", target="y")
    model = bevel.ObliqueForestClassifier(n_estimators=2, projection="axis").fit(table)
    assert model.feature_names_in_.tolist() == ["x"]


def test_options_of_text_files(tmp_path):
    (tmp_path / "rows.csv").write_text("code,y\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(9)))
    source = bevel.scan(tmp_path / "rows.csv", target="y", types={"code": "nominal"}).source
    assert next(source.batches()).X.nominal == [0]
    with pytest.raises(ValueError, match="delimiter is for text files; got another source"):
        bevel.scan(np.ones((3, 2)), target=[0, 1, 0], delimiter=";")
    with pytest.raises(TypeError, match="'delimeter'"):
        bevel.scan(tmp_path / "rows.csv", target="y", delimeter=";")


def test_files_that_do_not_go_together_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n")
    (tmp_path / "b.csv").write_text("z,y\n1,0\n")
    with pytest.raises(ValueError, match="Every file must have the columns of the first"):
        list(bevel.scan(tmp_path, target="y").source.batches())
    (tmp_path / "b.csv").write_text("x;y\n1,5;0\n2,25;1\n")
    (tmp_path / "a.csv").write_text("x,y\n1.5,0\n2.25,1\n")
    with pytest.raises(ValueError, match="decimal sign of the first"):
        list(bevel.scan(tmp_path, target="y").source.batches())


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("x,y\n" + "1,0\n2,1\n" * 20)
    table = TextBatches([Source(file, "rows.csv")], TableOptions())
    list(table.batches(["x", "y"]))
    file.write_text("x,y\n" + "one,0\n2,1\n" * 20)
    with pytest.raises(ValueError, match="must stay as it is while it is read"):
        list(table.batches(["x", "y"]))


def test_a_file_that_changed_since_another_fit_is_read_anew(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("x,y\n" + "1,0\n2,1\n" * 20)
    table = bevel.scan(file, target="y")
    model = bevel.ObliqueForestClassifier(n_estimators=2, projection="axis", random_state=0)
    model.fit(table)
    file.write_text("x,y\n" + "one,0\n2,1\n" * 20)
    assert model.fit(table).score(pd.DataFrame({"x": ["one", "2"]}), [0, 1]) == 1.0


def test_a_target_is_no_feature(tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n" + "1,0\n2,1\n" * 20)
    with pytest.raises(ValueError, match="columns must be features"):
        bevel.scan(tmp_path / "rows.csv", target="y", columns=["x", "y"])
