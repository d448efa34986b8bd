"""Files as people have them read as the plain file of the same values."""

import csv
import datetime as dt
import io

import numpy as np
import pytest

from bevel.tables.options import TableOptions
from bevel.tables.table_file import open_table
from bevel.workflow.rows import read_labelled_rows

N = 60
RNG = np.random.default_rng(0)
NUMBERS = np.round(RNG.normal(50_000, 20_000, N), 1)
SMALL = np.round(RNG.normal(0, 5, N), 2)
DATES = [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in RNG.integers(0, 900, N)]
CITIES = RNG.choice(["Zürich", "Bern", "Genf"], N)
LABELS = np.where(NUMBERS > 50_000, "yes", "no")
DAYS = [(date - dt.date(1970, 1, 1)).days for date in DATES]
HEAD = ["amount", "change", "joined", "city", "y"]


def text(
    amount=str,
    change=str,
    joined=dt.date.isoformat,
    delimiter=",",
    head=HEAD,
    before=lambda _: [],
    quoting=csv.QUOTE_MINIMAL,
):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    writer.writerow(head)
    for row in range(N):
        cells = [amount(NUMBERS[row]), change(SMALL[row]), joined(DATES[row])]
        writer.writerow([*before(row), *cells, CITIES[row], LABELS[row]])
    return stream.getvalue()


def european(value):
    return f"{value:,}".translate(str.maketrans(",.", ".,"))


FILES = {
    "plain": text(),
    "semicolons and decimal commas": text(european, european, delimiter=";"),
    "tabs": text(delimiter="\t"),
    "byte order mark": "\ufeff" + text(),
    "groups of digits": text(lambda v: f"{v:,}"),
    "groups of digits between semicolons": text(lambda v: f"{v:,}", delimiter=";"),
    "currency and per cent": text(lambda v: f"${v:,.2f}", lambda v: f"{v}%"),
    "euros": text(lambda v: f"{european(v)} €", european, delimiter=";"),
    "days first": text(joined=lambda d: d.strftime("%d.%m.%Y")),
    "months first": text(joined=lambda d: f"{d.month}/{d.day}/{d.year}"),
    "names of months": text(joined=lambda d: d.strftime("%d-%b-%Y")),
    "R's write.table": text(
        delimiter=" ", before=lambda row: [str(row + 1)], quoting=csv.QUOTE_NONNUMERIC
    ),
    "R's write.table with tabs": text(delimiter="\t", before=lambda row: [f"row {row}"]),
    "pandas' index": text(head=["", *HEAD], before=lambda row: [row]),
    "index that went through pandas": text(head=["Unnamed: 0", *HEAD], before=lambda row: [row]),
    "serial number": text(head=["patient_id", *HEAD], before=lambda row: [row + 1001]),
    "empty lines": text().replace("\n", "\n\n"),
    "delimiters at the end": text().replace("\n", ",\n"),
    "delimiters at the end of rows": text().replace("\n", ",\n").replace("y,\n", "y\n", 1),
}


@pytest.fixture
def write(tmp_path):
    def write_file(content, encoding="utf-8"):
        path = tmp_path / "data.csv"
        path.write_bytes(content.encode(encoding))
        return path

    return write_file


@pytest.mark.parametrize("kind", FILES)
def test_file_reads_as_the_plain_one(write, kind):
    rows = read_labelled_rows(write(FILES[kind]), "y")
    assert rows.X.names == tuple(HEAD[:-1])
    np.testing.assert_allclose(rows.X.values[0], NUMBERS, rtol=1e-12)
    np.testing.assert_allclose(rows.X.values[1], SMALL, rtol=1e-12)
    np.testing.assert_array_equal(rows.X.values[2], DAYS)
    assert rows.X.values[3].tolist() == CITIES.tolist()
    assert rows.X.dates == {"joined"}
    assert rows.y.tolist() == LABELS.tolist()


def test_notes_say_what_was_understood(write):
    notes = read_labelled_rows(write(FILES["currency and per cent"]), "y").notes
    amount = f"'${NUMBERS[0]:,.2f}' is {NUMBERS[0]:.12g}"
    change = f"'{SMALL[0]}%' is {SMALL[0]:.12g}"
    assert notes[0].endswith(f"separators: 'amount' ({amount}), 'change' ({change}).")
    notes = read_labelled_rows(write(FILES["months first"]), "y").notes
    first = DATES[0]
    example = f"{first.month}/{first.day}/{first.year}"
    assert f"'joined' (month first, as in '{example}')" in notes[0]


@pytest.mark.parametrize("mark", [".", "-", "unknown", "#N/A", "#DIV/0!", "None"])
def test_marks_of_missing_values_among_numbers_are_missing(write, mark):
    path = write(
        "a,b,y\n" + "".join(f"{mark if i % 5 == 0 else i / 2},{i % 3},{i % 2}\n" for i in range(40))
    )
    rows = read_labelled_rows(path, "y")
    assert rows.X.nominal == []
    assert np.flatnonzero(rows.X.missing(0)).tolist() == list(range(0, 40, 5))


def test_marks_that_may_be_labels_stay_labels_among_labels(write):
    path = write("a,y\n" + "none,1\nsome,0\n-,1\n" * 5)
    assert set(open_table(path).read(["a"]).columns.values[0]) == {"none", "some", "-"}


def test_copies_of_a_name_are_numbered_but_no_target(write):
    path = write("a,b,a,a.1,y\n1,2,3,4,u\n2,3,4,5,v\n")
    table = open_table(path)
    assert table.names == ("a", "b", "a.1_", "a.1", "y")
    assert "'a'" in table.notes[0]
    with pytest.raises(ValueError, match="one column 'a' to predict"):
        read_labelled_rows(path, "a")


def test_days_and_months_that_cannot_be_distinguished_are_asked_for(write):
    path = write("when,y\n" + "3/4/2024,u\n5/6/2024,v\n" * 20)
    with pytest.raises(
        ValueError, match=r"'3/4/2024', of which the day.*`types={'when': \"dmy\"}`"
    ):
        read_labelled_rows(path, "y")
    options = TableOptions(types={"when": "mdy"})
    assert read_labelled_rows(path, "y", options=options).X.values[0][0] == 19786.0


def test_numbers_that_may_be_two_things_are_asked_for(write):
    path = write("a;y\n" + "1,234;u\n5,678;v\n" * 20)
    with pytest.raises(
        ValueError, match=r"'1,234', which may be 1234 or 1\.234\. Say which: `decimal"
    ):
        read_labelled_rows(path, "y")
    options = TableOptions(decimal=",")
    assert read_labelled_rows(path, "y", options=options).X.values[0][0] == 1.234


def test_points_in_a_file_of_decimal_commas_group_digits(write):
    path = write("a;b;y\n" + "1.234;0,5;u\n987;1,5;v\n" * 20)
    assert read_labelled_rows(path, "y").X.values[0][:2].tolist() == [1234, 987]


def test_numbers_that_would_be_too_many_labels_are_refused_with_the_ways_out(write):
    path = write("a,y\n" + "".join(f"{i / 7:.3f},{i % 2}\n" for i in range(60)) + "high,1\n")
    with pytest.raises(ValueError, match=r"but for 'high' in row 61; .*61 labels") as error:
        read_labelled_rows(path, "y")
    for way in ("`missing`", "`types={'a': \"number\"}`", "`nominal`", "`decimal`", "`drop`"):
        assert way in str(error.value)
    assert read_labelled_rows(path, "y", nominal=["a"]).X.nominal == [0]
    for options in (TableOptions(missing=["high"]), TableOptions(types={"a": "number"})):
        assert np.isnan(read_labelled_rows(path, "y", options=options).X.values[0][-1])


def test_delimiter_and_header_are_those_of_the_user(write):
    table = open_table(write("1:2:u\n3:4:v\n"), TableOptions(delimiter=":", header=False))
    assert table.names == ("c1", "c2", "c3")
    tab = open_table(write("a\tb\n1\t2\n"), TableOptions(delimiter="tab"))
    assert tab.names == ("a", "b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": "::"}, "`delimiter` must be a single character; got '::'"),
        ({"decimal": ";"}, '`decimal` must be "." or ","'),
        ({"encoding": "utf-9"}, "`encoding` must be one that Python supports"),
        ({"types": {"a": "float"}}, "`types` must be number, .*; got 'float' for 'a'"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TableOptions(**options)


def test_options_name_columns_that_are_there(write):
    with pytest.raises(ValueError, match=r"no column 'pirce'; .* Did you mean 'price'\?"):
        open_table(write("price,y\n1,2\n"), TableOptions(types={"pirce": "number"}))


def test_options_of_text_are_refused_for_parquet(tmp_path):
    path = tmp_path / "data.parquet"
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    pq.write_table(pa.table({"a": ["1,5", "x"]}), path)
    with pytest.raises(ValueError, match="`decimal` is for text files"):
        open_table(path, TableOptions(decimal=","))
    assert open_table(path).read(["a"]).columns.nominal == [0]


def test_infinity_names_its_row_in_the_file(write):
    with pytest.raises(ValueError, match="'a' must hold finite numbers; got inf in row 2"):
        open_table(write("a,b\n1,2\ninf,3\n")).read(["a"])


def test_excel_workbook_is_refused_with_the_remedy(tmp_path):
    path = tmp_path / "data.xlsx"
    path.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(ValueError, match=r"Excel workbook.*Save the sheet as CSV"):
        open_table(path)
