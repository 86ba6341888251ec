"""Where things of named models lie: cards in the package, environments in the repository, the rest in the user's cache.

The cache is `$OVERREAD_CACHE`, else `$XDG_CACHE_HOME/overread`, else `~/.cache/overread`:

    weights/ORG/NAME      weights that were staged for machines without a network
    environments/NAME-*   environments that were built, by the hash of their lock
    envs/MODEL            what `overread models check` found

Environments are folders of `envs/` in the repository; with overread installed as a package, `$OVERREAD_ENVS` names it.
"""

from __future__ import annotations

import os
from pathlib import Path

CARDS = Path(__file__).parents[1] / "models" / "cards"


def cache() -> Path:
    """The user's cache folder; it need not exist."""
    given = os.environ.get("OVERREAD_CACHE")
    if given:
        return Path(given).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "overread"


def envs() -> Path:
    """The folder of environments; it need not exist."""
    given = os.environ.get("OVERREAD_ENVS")
    return Path(given).expanduser().absolute() if given else Path(__file__).parents[3] / "envs"


def staged(weights: str) -> Path:
    """Where weights of a hub name are staged; its last part stays the name, which is part of a model's identity."""
    return cache() / "weights" / weights
