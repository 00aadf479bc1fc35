"""The command line: the program, what commands share, and a file for each command in `commands`."""
