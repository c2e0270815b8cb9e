"""``python -m topoloom``: the command line."""

from topoloom.cli import main

main()
