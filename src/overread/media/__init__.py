"""Media: from an address to what a model is handed (stage: ask).

`reader` finds, decodes and remembers; `ecg`, `clip`, `volume` and `image` know one kind each; `contract` says what a
kind is.
"""
