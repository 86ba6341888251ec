"""Heartbeat: find the end-diastolic and the end-systolic frame of an echo clip

paper: none yet; a first, thin form of frame-level heartbeat tracking
media: clip
licence: Apache-2.0
terms: open

Each question shows a window of a clip that holds exactly one such frame, at a place drawn evenly over the window, so
that no rule that never looks can know it. Frames are counted from 0 within the window.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from overread.exam.framing import PROMPTS
from overread.exam.script import Ask, Options, Say, Script
from overread.media.conditions import seeded
from overread.tables import Case

ARCHIVES = ("phantoms",)
PROTOCOLS = ("uniform",)
PROBES = ("reverse", "shuffle", "frozen")
JUDGES = ("number",)
METRICS = ("mean_error", "mean_error_read", "accuracy", "coverage", "unreadable")
MODELS = ("echo_solver",)

LENGTHS = (48, 36, 28, 22, 16, 12, 8)
"""Window lengths in frames; few, so that studies with equal windows exist to be swapped in."""

BEATS = 0.9
"""No window is longer than this many beats: it would hold two such frames."""

TOLERANCE_MS = 60.0


def exam(cases: Sequence[Case], seed: int, options: Options) -> Iterator[Script]:
    """Two items a clip: one for each of the two frames, each with a window of its own."""
    book = yaml.safe_load((PROMPTS / "heartbeat.yaml").read_text(encoding="utf-8"))
    for case in cases:
        for medium in case.media:
            if medium.kind != "clip":
                continue
            for event in ("ed", "es"):
                window = _window(case, event, seed)
                if window is not None:
                    shown = (dataclasses.replace(medium, select=tuple(window)),)
                    turns = (Say(book["system"], role="system"), _ask(case, book, event, window, medium.name))
                    yield Script(case, f"{case.id}/{event}", turns, media=shown)


def _window(case: Case, event: str, seed: int) -> range | None:
    """The longest window that has room on both sides to hold the frame anywhere; None where there is none."""
    facts = case.facts
    beat = 60.0 * float(facts["fps"]) / float(facts["heart_rate_bpm"])
    draw = seeded("heartbeat", seed, case.id, event)
    for length in LENGTHS:
        room = range(length - 1, int(facts["frames"]) - length + 1)
        marked = [int(frame) for frame in facts[f"{event}_frames"] if int(frame) in room]
        if length <= BEATS * beat and marked:
            start = marked[int(draw.integers(len(marked)))] - int(draw.integers(length))
            return range(start, start + length)
    return None


def _ask(case: Case, book: dict[str, Any], event: str, window: range, medium: str) -> Ask:
    frame = next(int(frame) for frame in case.facts[f"{event}_frames"] if int(frame) in window) - window.start
    last = len(window) - 1
    words = book[event]
    return Ask(
        template=f"locate/{event}",
        text=words["text"].replace("{last}", str(last)),
        wording=words["wording"].replace("{last}", str(last)),
        kind="number",
        answer=float(frame),
        low=0.0,
        high=float(last),
        whole=True,
        tolerance=round(TOLERANCE_MS * float(case.facts["fps"]) / 1000.0, 3),
        media=(medium,),
        stage=event,
        slices=(f"ef={_ef_group(float(case.facts['ef_percent']))}",),
        follow={"reverse": float(last - frame)},
    )


def _ef_group(ef_percent: float) -> str:
    if ef_percent < 40:
        return "below 40"
    return "40 to 49" if ef_percent < 50 else "50 and above"
