from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from overread.benchmarks import heartbeat
from overread.errors import BadInput
from overread.exam.script import Options
from overread.media.contract import Delivered
from overread.models import echo_solver
from overread.models.contract import Answer, Message, Pending, Posed, Setting
from overread.phantoms.echo import EchoPhantom, echo_phantom
from overread.tables import Case, Dialogue, Json, Media, Question

CLIP = Media("clip", "clip", "phantoms://1")


@functools.cache
def phantom(seed: int) -> EchoPhantom:
    return echo_phantom(seed)


def delivered(frames: Any, select: tuple[int, ...] = (), name: str = "hash") -> Delivered:
    shown = frames[list(select)] if select else frames
    indices = select or tuple(range(len(frames)))
    return Delivered("frames", shown, indices, shown.shape, name, {"times_ms": ()})


def answer(template: str, given: Any, media: tuple[Media, ...] = (CLIP,), model: Any = None) -> Answer:
    question = Question("q", "d", 0, "i", template, "number", "?", "?", "nothing", "", low=0.0, high=9.0, whole=True)
    dialogue = Dialogue("d", "b", "p", "c", "phantoms/1", "i", "plain", "open", media, ())
    look = given if callable(given) else lambda _: given
    posed = Posed(dialogue, (), (Pending(question, 0, Message("user", "?", media), 3, 1),), look)
    (one,) = (model or echo_solver.load(Setting("echo_solver"))).answer([posed])
    assert (one.question, one.seed, one.sample) == ("q", 3, 1)
    return one


def test_the_frames_of_the_exam_are_found_to_within_its_tolerance():
    errors, right = [], []
    for seed in range(8):
        made = phantom(seed)
        case = Case(f"c{seed}", "phantoms", "p", (CLIP,), Json(made.truth))
        for script in heartbeat.exam([case], 0, Options()):
            (asked,), (medium,) = script.asks(), script.shown_media()
            one = answer(asked.template, delivered(made.frames, medium.select))
            assert one.number is not None and isinstance(asked.answer, float)
            errors.append(abs(one.number - asked.answer) / made.truth["fps"] * 1000)
            right.append(abs(one.number - asked.answer) <= (asked.tolerance or 0))
    assert len(errors) >= 12
    assert np.median(errors) <= 30 and np.mean(right) >= 0.9


def test_the_receipt_says_what_was_handed_over():
    given = delivered(phantom(0).frames, tuple(range(5, 25)))
    (seen,) = answer("locate/ed", given).seen
    assert (seen.level, seen.media, seen.form) == ("tensor", CLIP, "frames")
    assert (seen.indices, seen.shape, seen.hash) == (given.indices, given.shape, given.hash)


def test_of_several_clips_the_last_counts_and_each_has_its_receipt():
    both = (CLIP, Media("second", "clip", "phantoms://2"))
    other = delivered(phantom(0).frames[::-1], name="backwards")
    one = answer("locate/ed", lambda medium: delivered(phantom(0).frames) if medium == CLIP else other, media=both)
    assert [seen.media for seen in one.seen] == list(both)
    assert one.number == answer("locate/ed", other).number != answer("locate/ed", delivered(phantom(0).frames)).number


def test_without_frames_it_refuses():
    one = answer("locate/ed", None, media=())
    assert (one.status, one.reason, one.number) == ("refused", "no frames were shown", None)


def test_a_clip_in_which_nothing_beats_is_refused_with_the_reason():
    one = answer("locate/es", delivered(phantom(0).frames[[4] * 12]))
    assert one.status == "refused" and "nothing beats" in one.reason and one.number is None


def test_a_clip_that_cannot_be_read_is_left_to_the_engine():
    def look(_: Media) -> Delivered:
        raise BadInput("the clip is cut short")

    with pytest.raises(BadInput, match="the clip is cut short"):
        answer("locate/ed", look)


def test_a_template_that_it_does_not_know_is_refused_with_a_receipt():
    one = answer("volume", delivered(phantom(0).frames))
    assert one.status == "refused" and "volume" in one.reason and len(one.seen) == 1


def test_each_stretch_is_measured_once(monkeypatch):
    calls: list[int] = []
    measure = echo_solver.measure_clip
    monkeypatch.setattr(echo_solver, "measure_clip", lambda frames: calls.append(1) or measure(frames))
    model = echo_solver.load(Setting("echo_solver"))
    for template, name in (("locate/ed", "a"), ("locate/es", "a"), ("locate/ed", "b"), ("locate/es", "b")):
        answer(template, delivered(phantom(0).frames, name=name), model=model)
    assert len(calls) == 2


def test_variants_and_options_are_unknown():
    for setting in (Setting("echo_solver", "fast"), Setting("echo_solver", options={"a": "b"})):
        with pytest.raises(BadInput, match="echo_solver"):
            echo_solver.load(setting)
