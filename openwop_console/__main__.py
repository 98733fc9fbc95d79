"""`python -m openwop_console`, the same as the `openwop-console` command."""

from openwop_console.cli import main

main(prog_name="openwop-console")
