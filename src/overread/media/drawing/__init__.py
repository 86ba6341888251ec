"""The parts of a drawn ECG sheet; `overread.media.sheet` puts them together.

settings   what a sheet looks like, and the named profiles (profiles.yaml)
strip      the signal that goes onto a sheet, checked
boxes      where a lead stands: pixels to seconds and millivolts, and back
canvas     lines, text and traces on pixels, by matplotlib's Agg
stage      a canvas with its background, kept for the next sheet
paper      sheets on millimetre paper
upstream   the picture of ecg_plot 0.2.8
marks      spans that are drawn onto a sheet
png        fast PNG
effects    what scanners, cameras and pockets do to paper
"""
