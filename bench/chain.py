"""The turns that both sides of the first measure play: made up, the same whenever they are made again.

Plain Python without imports of ours, because the Inspect side runs in an environment of its own.
"""

from __future__ import annotations

from typing import NamedTuple

TURNS = 15

FINDINGS = (
    "the rate of the ventricles",
    "the rhythm",
    "the P waves before each QRS complex",
    "the PR interval",
    "the width of the QRS complex",
    "the frontal axis",
    "the progression of the R wave",
    "the ST segment in the inferior leads",
    "the ST segment in the anterior leads",
    "the T waves",
    "the QT interval",
    "signs of enlarged atria",
    "signs of ventricular hypertrophy",
    "the region that is affected",
    "the diagnosis",
)
GRADES = ("normal", "slightly changed", "clearly changed", "not to be judged here", "absent")


class Turn(NamedTuple):
    """One question of a dialogue with its options and its key."""

    template: str
    text: str
    options: tuple[str, ...]
    answer: str


OFFERS = tuple(GRADES[: 4 + number % 2] for number in range(TURNS))
TEMPLATES = tuple(f"step{number + 1}" for number in range(TURNS))
TEXTS = tuple(
    f"Step {number + 1}: look at the printed record again. How would you describe {FINDINGS[number]}?"
    for number in range(TURNS)
)


MADE = tuple(
    tuple(Turn(template, text, options, answer) for answer in options)
    for template, text, options in zip(TEMPLATES, TEXTS, OFFERS, strict=True)
)


def turns_of(dialogue: int) -> list[Turn]:
    """The fifteen questions of the n-th dialogue; their keys differ from dialogue to dialogue."""
    return [made[(dialogue * 7919 + number * 104_729) // 31 % len(made)] for number, made in enumerate(MADE)]
