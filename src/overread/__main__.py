"""`python -m overread` is the command `overread`."""

from overread.cli import main

if __name__ == "__main__":
    main(prog_name="overread")
