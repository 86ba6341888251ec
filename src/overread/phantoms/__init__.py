"""Made-up patients whose truth is known exactly: `ecg`, `echo`, `volume`; `files` writes them as archives do.

A phantom is a function of its seed and its arguments alone: no global state, no clock, no environment. Its truth is
a plain dictionary that JSON can hold, measured on what was drawn before any noise was added.
"""
