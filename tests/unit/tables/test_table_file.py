"""Files of rows: what is found in awkward ones, and what is said of those that cannot be read."""

import gzip
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bevel import workflow
from bevel.tables.options import TableOptions
from bevel.tables.table_file import open_table, read_table
from bevel.workflow.rows import read_labelled_rows


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write_file


def read_all(path, **options):
    table = open_table(path, TableOptions(**options))
    return table.read(table.names).columns


def read(path, names, kinds=None, **options):
    """Columns and notes."""
    found = open_table(path, TableOptions(**options)).read(names, kinds)
    return found.columns, found.notes


def test_quotes_spaces_and_byte_order_mark_are_not_part_of_the_cells(write):
    path = write('\ufeff"first col" , "city, state",c\r\n1.5, "New, York" ,x\r\n 2,"a ""b""",y\r\n')
    X = read_all(path)
    assert X.names == ("first col", "city, state", "c")
    assert X.values[0].tolist() == [1.5, 2.0]
    assert X.values[1].tolist() == ["New, York", 'a "b"']


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_delimiter_is_found(write, delimiter):
    path = write("a|x\n1|2\n3|4\n".replace("|", delimiter))
    assert read_all(path).names == ("a", "x")


def test_semicolons_win_over_decimal_commas(write):
    X = read_all(write("a;b\n1,5;2,25\n-3,5;4\n"))
    assert X.values[0].tolist() == [1.5, -3.5]
    assert X.values[1].tolist() == [2.25, 4.0]


def test_missing_markers_are_missing_in_both_kinds_of_columns(write):
    X = read_all(write("n,w\n1,a\nNA,NA\n?,?\n,\nnan,N/A\n2,b\n"))
    np.testing.assert_array_equal(X.values[0], [1, np.nan, np.nan, np.nan, np.nan, 2])
    assert X.values[1].tolist() == ["a", None, None, None, None, "b"]


def test_one_word_among_numbers_makes_a_column_nominal_with_a_note_saying_where(write):
    X, notes = read(write("a,b\n" + "1,2\n" * 5 + "1,oops\n" + "1,3\n"), ["b"])
    assert X.nominal == [0]
    assert notes == ["Column 'b' is read as nominal because of 'oops' in row 6."]


def test_word_in_a_late_block_keeps_the_text_of_earlier_numbers(write):
    X = read_all(write("a,b\n" + "007,1\n" * 1500 + "x,2\n"))
    assert X.values[0][0] == "007"
    assert X.values[0][-1] == "x"


def test_digits_with_underscores_are_words(write):
    assert read_all(write("a,b\n1_000,1\n2_000,2\n")).nominal == [0]


def test_absent_header_is_noticed_and_can_be_overruled(write):
    path = write("1,2\n3,4\n")
    table = open_table(path)
    assert table.names == ("c1", "c2")
    assert "`header=True`" in table.notes[0]
    assert open_table(path, TableOptions(header=True)).names == ("1", "2")
    headless = open_table(write("a,b\nc,d\n"), TableOptions(header=False))
    assert headless.names == ("c1", "c2")


def test_numbers_as_names_are_names_where_others_stand_above_numbers(write):
    assert open_table(write("gene,2020,2021\n1,2,3\n4,5,6\n")).names == ("gene", "2020", "2021")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file"),
        ("a,b\n1,2\n1,2,3\n", "got 3 in row 2"),
        ('a,b\n1,"x\n2,y\n3,z\n', "a quote is opened in row 1 and never closed: 'x'"),
        ('a,b\n1,x\n2,"y,3\n3,z\n', "a quote is opened in row 2 and never closed"),
    ],
)
def test_broken_file_is_refused_with_the_place(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_all(write(text))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_encoding_is_found(write, encoding):
    path = write('a,b\n1,"é, x"\n2,à\n', encoding=encoding)
    assert read_all(path).values[1].tolist() == ["é, x", "à"]
    notes = open_table(path).notes
    assert [("Windows-1252" in note, "`encoding`" in note) for note in notes] == (
        [(True, True)] if encoding == "latin-1" else []
    )


def test_encoding_is_that_of_the_user(write):
    path = write("a,б\n1,ж\n", encoding="koi8-r")
    X = read_all(path, encoding="koi8-r")
    assert X.names == ("a", "б")
    assert X.values[1].tolist() == ["ж"]
    with pytest.raises(ValueError, match=r"text in utf-8; got byte 0xc2.*`encoding=\"cp1252\"`"):
        read_all(path, encoding="utf-8")


def test_file_that_is_no_text_is_refused(write):
    with pytest.raises(ValueError, match="must be text in utf-8; got byte 0x81"):
        read_all(write("a,b\n\x81\x8d,2\n", encoding="latin-1"))


def test_text_of_several_lines_in_quotes_is_one_cell(write):
    assert read_all(write('a,b\n1,"x\ny"\n2,5" pipe\n')).values[1].tolist() == ["x\ny", '5" pipe']


def test_dates_become_days_with_a_note(write):
    path = write("when,at\n1970-01-02,1969-12-31T12:00\n,2000-01-01 00:00:00+01:00\n")
    columns, notes = read(path, ["when", "at"])
    np.testing.assert_array_equal(columns.values[0], [1.0, np.nan])
    np.testing.assert_allclose(columns.values[1], [-0.5, 10957 - 1 / 24])
    assert notes == ["Dates are read as days since 1970-01-01: 'when', 'at'."]
    assert read(path, ["when"], {"when": "nominal"})[0].nominal == [0]


@pytest.mark.parametrize(
    ("cells", "where"),
    [
        (["2024-01-01", "2024-13-01", "2024-01-02"], "'2024-13-01' in row 2"),
        (["2024-01-01"] * 1500 + ["7"], "'7' in row 1501"),
        (["7"] * 1500 + ["2024-01-01"], "'2024-01-01' in row 1501"),
        (["7"] * 1000 + ["2024-01-01"], "'2024-01-01' in row 1001"),
        (["2024-01-01"] * 9 + ["soon"], "'soon' in row 10"),
    ],
)
def test_column_of_dates_and_something_else_is_nominal(write, cells, where):
    path = write("when,x\n" + "".join(f"{cell},1\n" for cell in cells))
    columns, notes = read(path, ["when"])
    assert columns.values[0].tolist() == cells
    with pytest.raises(ValueError, match="must hold numbers; got " + where):
        open_table(path).read(["when"], {"when": "numeric"})
    assert [where in note for note in notes] == ([True] if len(cells) > 3 else [])


def test_gzip_is_read(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,x\n"))
    assert read_all(path).values[1].tolist() == ["x"]


def test_parquet_reads_as_the_same_csv(tmp_path, write):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    csv = write("n,w\n1,a\n,\n2.5,b\n")
    path = tmp_path / "data.parquet"
    pandas.read_csv(csv).to_parquet(path)
    ours, theirs = read_all(csv), read_all(path)
    assert ours.names == theirs.names
    np.testing.assert_array_equal(ours.values[0], theirs.values[0])
    assert ours.values[1].tolist() == theirs.values[1].tolist()


def test_dates_of_parquet_read_as_those_of_csv(tmp_path, write):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    day, time = datetime(2024, 2, 29), datetime(1999, 1, 1, 18)
    table = pyarrow.table({"day": [day.date(), None], "time": [time, day], "x": [1, 2]})
    path = tmp_path / "data.parquet"
    parquet.write_table(table, path)
    columns, notes = read(path, ["day", "time"])
    csv = write("day,time\n2024-02-29,1999-01-01 18:00\n,2024-02-29 00:00\n")
    for ours, theirs in zip(read_all(csv).values, columns.values, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert notes == ["Dates are read as days since 1970-01-01: 'day', 'time'."]


def test_parquet_without_a_reader_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1")
    for package in ("pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="pip install 'pyarrow'"):
        open_table(path)


def test_task_is_guessed_from_the_target(write):
    rows = "".join(f"{i},{i % 3},{i // 2 * 0.5},{'ab'[i % 2]}\n" for i in range(40))
    path = write("x,few,many,word\n" + rows)
    tasks = {name: read_labelled_rows(path, name).task.name for name in ("few", "many", "word")}
    assert tasks == {"few": "classification", "many": "regression", "word": "classification"}
    assert read_labelled_rows(path, "few").y.dtype == np.int64
    assert read_labelled_rows(path, "few", task="regression").y.dtype == np.float64
    assert "2.5" in read_labelled_rows(path, "many", task="classification").classes


def test_names_with_commas_are_to_be_given_one_by_one(write):
    path = write("a,b,y\n" + "1,2,x\n3,4,z\n" * 5)
    with pytest.raises(ValueError, match=r"no column 'a,b'.*repeat the option: a, b\."):
        read_labelled_rows(path, "y", drop=["a,b"])


def test_words_cannot_be_regressed(write):
    with pytest.raises(ValueError, match="words such as 'a'"):
        read_labelled_rows(write("x,y\n1,a\n2,b\n"), "y", task="regression")


def test_rows_without_a_target_are_left_out(write):
    data = read_labelled_rows(write("x,y\n1,a\n2,\n3,b\n"), "y")
    assert data.X.values[0].tolist() == [1.0, 3.0]
    assert any("1 rows without a target" in note for note in data.notes)


def test_empty_and_dropped_columns_are_left_out(write):
    rows = "".join(f"{i / 2},{i % 7},,{'ab'[i % 2]}\n" for i in range(30))
    path = write("x,z,nothing,y\n" + rows)
    data = read_labelled_rows(path, "y")
    assert data.X.names == ("x", "z")
    assert any("'nothing'" in note for note in data.notes)
    assert read_labelled_rows(path, "y", drop=["z"]).X.names == ("x",)


def test_features_that_do_not_vary_are_said_to(write):
    path = write("x,y\n" + "1,a\n1,b\n" * 5)
    assert read_labelled_rows(path, "y").notes == (
        "No feature varies: every row gets the same prediction.",
    )


def test_large_whole_numbers_are_different_classes(write):
    rows = "".join(f"{i / 2},{10**17 + i % 3}\n" for i in range(30))
    data = read_labelled_rows(write("x,y\n" + rows), "y")
    assert data.classes.tolist() == [str(10**17 + k) for k in range(3)]


def test_single_row_is_refused_without_plural(write):
    with pytest.raises(ValueError, match=r"got 'a' in its only row"):
        read_labelled_rows(write("x,y\n1,a\n"), "y")


def test_numbers_that_are_names_become_nominal_on_request(write):
    path = write("x,zip,y\n" + "".join(f"{i},{i % 4},{'ab'[i % 2]}\n" for i in range(20)))
    data = read_labelled_rows(path, "y", nominal=["zip"])
    assert [data.X.names[index] for index in data.X.nominal] == ["zip"]


def fitted_to(data):
    from bevel import ObliqueForestClassifier

    return ObliqueForestClassifier(30, random_state=0, n_jobs=1).fit(data.X, data.y)


def test_columns_are_found_by_name_in_any_order_and_others_are_noted(write):
    rows = [(i / 2, "uv"[i % 2], i % 5, "ab"[i % 2]) for i in range(40)]
    text = "x,w,z,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    model = fitted_to(read_labelled_rows(write(text), "y"))
    shuffled = "w,more,z,y,x\n" + "".join(f"{w},9,{z},{y},{x}\n" for x, w, z, y in rows)
    found = workflow.predict(model, write(shuffled, "other.csv"), proba=True)
    assert found.values.tolist() == [row[-1] for row in rows]
    assert found.notes == ("Columns that the model does not use: 'more', 'y'.",)
    assert found.to_csv().splitlines()[0] == "prediction,proba_a,proba_b"
    with pytest.raises(ValueError, match="got none called 'w'"):
        workflow.predict(model, write("x,z\n1,2\n", "less.csv"))


def test_columns_are_read_as_in_fit_whatever_they_look_like(write):
    text = "x,w,y\n" + "".join(f"{i / 2},{'1u'[i % 2]},{'ab'[i % 2]}\n" for i in range(40))
    model = fitted_to(read_labelled_rows(write(text), "y"))
    found = workflow.predict(model, write("x,w\n3,1\n2,1\n", "digits.csv"))
    assert found.values.tolist() == ["a", "a"]  # the label "1", not the number
    with pytest.raises(ValueError, match="'x' must hold numbers; got 'high' in row 1"):
        workflow.predict(model, write("x,w\nhigh,u\n", "words.csv"))


def test_empty_lines_above_the_header_do_not_count(write):
    X = read_all(write("\n   \na,b\n1,2\n\n3,4\n"))
    assert X.names == ("a", "b")
    assert X.values[0].tolist() == [1.0, 3.0]


@pytest.mark.parametrize("text", ["a,b", "a,b\n", "a,b\n\n"])
def test_header_alone_is_a_table_without_rows(write, text):
    X = read_all(write(text))
    assert X.names == ("a", "b")
    assert len(X) == 0


def test_number_of_a_wrong_row_does_not_count_empty_lines(write):
    with pytest.raises(ValueError, match="got 3 in row 2"):
        read_all(write("a,b\n\n1,2\n   \n1,2,3\n"))


def test_numbers_are_those_that_python_reads(write):
    cells = [
        "+4",
        ".5",
        "5.",
        "4.9e-324",
        "١",
        "0.1",
        "123456789012345678901",
    ]
    X = read_all(write("a,b\n" + "".join(f"{cell},1\n" for cell in cells)))
    assert X.values[0].tolist() == [float(cell) for cell in cells]


def test_quotes_after_spaces_hold_delimiters_and_spaces_in_quotes_stay(write):
    path = write('a,b\n1, "x, ""y"""\n2,"p, ""q"""\n3, "l1\nl2" \n')
    assert read_all(path).values[1].tolist() == ['x, "y"', 'p, "q"', "l1\nl2"]
    with_mark = write('\ufeff "a",b\n1,2\n')
    assert read_all(with_mark).names == ("a", "b")


def test_mark_of_inches_does_not_make_a_later_cell_look_open(write):
    assert read_all(write('a,b\n5" pipe,1\nx,"l1\nl2"\n')).values[1].tolist() == ["1", "l1\nl2"]


def test_row_longer_than_a_block_is_read(write, monkeypatch):
    from bevel.tables import text as text_file

    monkeypatch.setattr(text_file, "MIN_BLOCK", 1000)
    X = read_all(write("a,b\n" + f"1,{'x' * 5000}\n" * 200 + "2,y\n"))
    assert len(X.values[1][0]) == 5000
    assert X.values[1][-1] == "y"


def test_text_without_pyarrow_says_what_to_install(write, monkeypatch):
    path = write("a,b\n1,2\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"bevel\[cli\]"):
        read_all(path)


FRAME = pd.DataFrame(
    {
        "price": [1.5, None, 3.0],
        "city": ["Rome", "Oslo", None],
        "day": pd.to_datetime(["2020-01-01", "2021-06-30", None]),
    }
)
WRITERS = {
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "feather": lambda frame, path: frame.to_feather(path),
    "orc": lambda frame, path: frame.to_orc(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(
        path, orient="records", lines=True, date_format="iso"
    ),
    "xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "csv.bz2": lambda frame, path: frame.to_csv(path, index=False),
    "csv": lambda frame, path: frame.to_csv(path, index=False),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_columns(tmp_path, ending):
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    path = tmp_path / f"table.{ending}"
    WRITERS[ending](FRAME, path)
    found = read_table(path)
    assert found.names == ("price", "city", "day")
    assert found.dates == {"day"}
    np.testing.assert_array_equal(found["price"], [1.5, np.nan, 3.0])
    assert found["city"].tolist() == ["Rome", "Oslo", None]
    np.testing.assert_array_equal(found["day"], [18262.0, 18808.0, np.nan])


@pytest.mark.parametrize("compression", ["gzip", "bz2", "zstd"])
@pytest.mark.parametrize("content", ["a,b\n1,x\n2,y\n", "a b\n1 x\n2 y\n"], ids=["comma", "space"])
def test_text_may_be_compressed(tmp_path, compression, content):
    path = tmp_path / "table.csv"
    with pa.output_stream(str(path), compression=compression) as stream:
        stream.write(content.encode())
    found = read_table(path)
    assert found["a"].tolist() == [1.0, 2.0]
    assert found["b"].tolist() == ["x", "y"]


@pytest.mark.parametrize("compression", ["gzip", "bz2", "zstd"])
def test_compressed_text_that_was_cut_short_is_refused(tmp_path, compression):
    path = tmp_path / "table.csv"
    with pa.output_stream(str(path), compression=compression) as stream:
        stream.write(("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(9999))).encode())
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ValueError, match="must be CSV or TSV"):
        read_table(path)


@pytest.mark.parametrize("ending", ["parquet", "feather", "orc", "xlsx", "jsonl"])
def test_other_bytes_under_the_name_of_a_format_are_refused(tmp_path, ending):
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    path = tmp_path / f"table.{ending}"
    path.write_bytes(b"\x00\x01 no table at all")
    with pytest.raises(ValueError, match="must be"):
        read_table(path)


def test_column_whose_name_begins_as_a_compressed_file_is_text(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("BZh91,b\n1,x\n")
    assert read_table(path).names == ("BZh91", "b")
