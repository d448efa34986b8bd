"""``python -m bevel.cli``: the command without its script."""

from bevel.cli import main

main()
