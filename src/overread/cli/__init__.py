"""The command line: reads options, calls `overread.pipeline`, prints. Data goes to stdout, everything else to stderr.

Exit codes: 0 all done, 2 wrong input (said without a traceback), 3 partial: some questions have no reply.
"""

from overread.cli.root import main

# Each module adds its commands to the group, in the order of the flow.
from overread.cli import running, reading, material, models, ecg  # isort: skip

__all__ = ["ecg", "main", "material", "models", "reading", "running"]
