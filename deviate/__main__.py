"""`python -m deviate`."""

from deviate.cli import main

main()
