"""Writes files that are not there yet: exams and lessons from archives, phantoms from nothing.

A builder is one file of this folder with a docstring, whose first line is its title, and one function:

    def build(out: Path, *, ...) -> Path

It writes the folder `out` and gives it back. What follows the star are its settings, each with a default; for a builder
that reads an archive the first of them is `source: Path`. Equal settings give equal files. A build that was interrupted
leaves nothing at `out`, a finished one of the same settings is used again, and what others put there is never touched.
"""
