"""Runs the command line, and writes files for it."""

import contextlib
import csv
import inspect
import sys

from typer.testing import CliRunner

from bevel.cli.app import app


def invoke(command, words, **options):
    """What a command wrote to its two streams: `stdout`, `stderr`, and both as `output`.

    click before 8.2 mixes the streams unless it is told otherwise. It has no `output` of both then,
    and loses what a program leaves in the buffer of stderr.
    """
    if "mix_stderr" not in inspect.signature(CliRunner).parameters:
        return CliRunner().invoke(command, words, **options)
    result = _Unbuffered(mix_stderr=False).invoke(command, words, **options)
    result.__class__ = type("Result", (type(result),), {"output": property(_both_streams)})
    return result


class _Unbuffered(CliRunner):
    @contextlib.contextmanager
    def isolation(self, *arguments, **options):
        with super().isolation(*arguments, **options) as streams:
            sys.stderr.reconfigure(write_through=True)
            yield streams


def _both_streams(result):
    return result.stdout + result.stderr


def run(*arguments, **options):
    return invoke(app, [str(each) for each in arguments], **options)


def write_rows(path, names, columns):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names, *zip(*columns, strict=True)])
    return path
