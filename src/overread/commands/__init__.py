"""What single commands do, beyond the flow of `overread.pipeline`."""
