"""Runs the command line, and writes files for it."""

import csv

from typer.testing import CliRunner

from bevel.cli.app import app


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(each) for each in arguments], **options)


def write_rows(path, names, columns):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *zip(*columns, strict=True)])
    return path
