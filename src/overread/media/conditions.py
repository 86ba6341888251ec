"""What each condition does to a script: plain, the blind ones, and the probes.

plain     the study as it is
blank     every medium emptied: a flat line, black frames, air
swap      another patient's study, of the same geometry and with another key
text      no media, and nothing said about it
guess     no media; the model is told so and asked to guess
order     the options in another order
wording   the question in other words
others    a probe of a medium's own kind: reverse, shuffle, frozen, mirror, ... (`CHANGES` of `media/KIND.py`)
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from overread.errors import BadInput
from overread.exam.script import Ask, Say, Script, Take, Tell
from overread.tables import Media

BLIND: tuple[str, ...] = ("blank", "swap", "text", "guess")
"""Conditions under which the study cannot be seen; what a model scores here is one of its floors."""

TEXT_PROBES: tuple[str, ...] = ("order", "wording")


def seeded(*parts: object) -> np.random.Generator:
    """A random generator that is the same for the same parts, on every machine."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def parse_conditions(text: str, probes: Sequence[str]) -> tuple[str, ...]:
    """`floors`, `full`, `none` or a list with commas -> conditions, plain first."""
    everything = (*BLIND, *TEXT_PROBES, *probes)
    named = {"floors": BLIND, "full": everything, "none": ()}
    if text in named:
        return ("plain", *named[text])
    chosen = [part.strip() for part in text.split(",") if part.strip()]
    for name in chosen:
        if name not in ("plain", *everything):
            raise BadInput(
                f"there is no condition {name!r} for this exam",
                do=f"choose floors, full, none, or some of plain, {', '.join(everything)}",
            )
    return ("plain", *(name for name in dict.fromkeys(chosen) if name != "plain"))


Turned = Callable[[int, Ask], Ask]
"""What a condition does to a question, given its position among the turns."""


def vary(script: Script, condition: str, seed: int, partner: tuple[Media, ...] | None, guess: str) -> Script:
    """The script under a condition; `partner` holds the media for `swap`, `guess` the text for `guess`."""
    if condition == "plain":
        return script
    if condition in ("text", "guess"):
        bare = _without_media(script)
        return _told(bare, guess) if condition == "guess" else bare
    if condition == "swap":
        return dataclasses.replace(script, media=partner)
    if condition == "order":
        return _asking(script, lambda position, ask: _reordered(ask, seed, script.item, position))
    if condition == "wording":
        return _asking(script, lambda _, ask: dataclasses.replace(ask, text=ask.wording or ask.text))
    changed = tuple(dataclasses.replace(medium, change=condition) for medium in script.shown_media())
    followed = _asking(script, lambda _, ask: ask if condition == "blank" else _followed(ask, condition))
    return dataclasses.replace(followed, media=changed)


def _followed(ask: Ask, probe: str) -> Ask:
    if probe in ask.follow:
        return dataclasses.replace(ask, answer=ask.follow[probe])
    return dataclasses.replace(ask, scored=False)


def _asking(script: Script, turned: Turned) -> Script:
    """The script with every question turned, told ones too."""

    def turn(position: int, one: Say | Ask | Tell | Take) -> Say | Ask | Tell | Take:
        if isinstance(one, Ask):
            return turned(position, one)
        return Tell(turned(position, one.ask)) if isinstance(one, Tell) else one

    return dataclasses.replace(script, turns=tuple(turn(n, one) for n, one in enumerate(script.turns)))


def _without_media(script: Script) -> Script:
    bare = _asking(script, lambda _, ask: dataclasses.replace(ask, media=()))
    turns = tuple(dataclasses.replace(one, media=()) if isinstance(one, Say) else one for one in bare.turns)
    return dataclasses.replace(bare, turns=turns, media=())


def _told(script: Script, guess: str) -> Script:
    first = script.turns[0] if script.turns else None
    if isinstance(first, Say) and first.role == "system":
        told: Say = dataclasses.replace(first, text=f"{first.text}\n\n{guess}")
        return dataclasses.replace(script, turns=(told, *script.turns[1:]))
    return dataclasses.replace(script, turns=(Say(guess, role="system"), *script.turns))


def _reordered(ask: Ask, seed: int, item: str, position: int) -> Ask:
    count = len(ask.options)
    if count < 2:
        return ask
    order = seeded("order", seed, item, position).permutation(count)
    if (order == np.arange(count)).all():
        order = np.roll(order, 1)
    return dataclasses.replace(ask, options=tuple(ask.options[i] for i in order))
