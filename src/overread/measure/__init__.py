"""Measuring by signal and image processing alone: no weights, no model contract, nothing of exams."""
