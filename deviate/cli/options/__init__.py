"""Options of the command line: groups, values, help, and where values come from."""
