"""Measures a 12-lead ECG: where its waves begin and end, and the facts that follow."""

from overread.measure.ecg.first import EcgFacts, measure_ecg

__all__ = ["EcgFacts", "measure_ecg"]
