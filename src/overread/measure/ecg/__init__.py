"""Measures a 12-lead ECG: where its waves begin and end, and the facts that follow."""

from overread.measure.ecg.boundaries import UNSEEN, Boundaries, Waves
from overread.measure.ecg.delineate import delineate
from overread.measure.ecg.facts import Measured, measure_ecg

__all__ = ["UNSEEN", "Boundaries", "Measured", "Waves", "delineate", "measure_ecg"]
