"""Fuzzing: mutated files of every format that the package reads; see `tests.fuzz.__main__`."""
