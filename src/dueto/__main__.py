"""`python -m dueto` is `dueto`."""

from dueto.cli import main

main()
