"""overread: examines medical vision-language models, and shows whether they looked."""

__version__ = "0.1.0"
