"""Parameters in messages become flags on the command line, and nothing else does."""

import pytest

from bevel.cli.flags import as_flags


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("`drop` leaves it out.", "--drop leaves it out."),
        ('`task="regression"` changes it.', "--task regression changes it."),
        ("`header=True` says so.", "--header says so."),
        ("`header=False` says so.", "--no-header says so."),
        ("`keep_targets=True` and `rows`", "--keep-targets and --row"),
        ("a column `price`, or drop", "a column `price`, or drop"),
    ],
)
def test_parameter_is_written_as_its_flag(message, shown):
    assert as_flags(message) == shown
