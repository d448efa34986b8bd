"""The command ``bevel``: a file for each subcommand, which calls `workflow` and prints."""

import sys

from bevel.extras import MissingPackageError, import_optional

__all__ = ["main"]


def main() -> None:
    """Run the command line; a missing optional package ends it with a message and exit code 1.

    Errors of the commands are handled in `bevel.cli.error_handling`.
    """
    try:
        for package in ("typer", "rich"):
            import_optional(package, needed_by="The command bevel", install="bevel[cli]")
        from bevel.cli.app import app
        from bevel.cli.output import write_any_text

        write_any_text()
        app()
    except MissingPackageError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:  # before a command has started
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
