"""``bevel lab``: the commands that run and report experiments."""

from bevel_lab.cli.app import app

__all__ = ["app"]
