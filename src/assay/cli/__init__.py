"""The command line: one file a command, everything heavy imported inside the commands."""
