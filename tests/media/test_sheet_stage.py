"""Canvases are kept and cleaned by rows; nothing of one drawing may be left in the next."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.media.drawing.canvas import Canvas
from overread.media.drawing.stage import Stage, Stages

BLACK = (0.0, 0.0, 0.0)
place = st.integers(-20, 120)
stroke = st.one_of(
    st.tuples(st.just("line"), place, place, place, place, st.floats(0.3, 6)),
    st.tuples(st.just("text"), place, place, st.floats(3, 30), st.text(max_size=12)),
    st.tuples(st.just("fill"), place, place, place, place),
    st.tuples(st.just("trace"), st.lists(st.floats(-200, 200) | st.just(float("nan")), min_size=2, max_size=30)),
    st.tuples(st.just("ticks"), place, place, place, place),
)


def paint(canvas: Canvas, strokes: list[tuple]) -> None:
    for name, *given_ in strokes:
        if name == "line":
            a, b, c, d, width = given_
            canvas.line([(a, b), (c, d)], (0.8, 0.1, 0.2), width)
        elif name == "text":
            x, y, size, said = given_
            canvas.text((x, y), said, size, BLACK, bold=True)
        elif name == "fill":
            canvas.fill(tuple(given_), (0.1, 0.4, 0.9), 0.3)
        elif name == "ticks":
            a, b, c, d = given_
            canvas.ticks([(a, b)], (c, d), BLACK, 1.5)
        else:
            points = np.column_stack([np.arange(len(given_[0])) * 4.0, given_[0]])
            canvas.trace(points, (1, 0, 0, 0, -0.5, 50), (BLACK, 2.0), (5, 10, 90, 80))


def front(canvas: Canvas) -> None:
    canvas.text((20, 40), "over", 14, BLACK)
    canvas.line([(3, 90), (97, 90)], BLACK, 1.4)


def fresh() -> Stage:
    canvas = Canvas(100, 100)
    canvas.rgba[:] = 255
    canvas.fill((10, 10, 60, 60), (0.9, 0.5, 0.5))
    return Stage(canvas, front)


USED = fresh()


@settings(max_examples=60)
@given(st.lists(stroke, max_size=4), st.lists(stroke, max_size=4))
def test_a_used_stage_draws_as_a_new_one(before: list[tuple], strokes: list[tuple]) -> None:
    found = []
    for stage in (USED, fresh()):
        stage.clear()
        if stage is USED:
            paint(stage.canvas, before)
            stage.picture()
            stage.clear()
        paint(stage.canvas, strokes)
        found.append(stage.picture())
    assert np.array_equal(*found)


def test_the_front_lies_over_the_background_as_if_drawn_there() -> None:
    stage = fresh()
    canvas = Canvas(100, 100)
    canvas.rgba[:] = 255
    canvas.fill((10, 10, 60, 60), (0.9, 0.5, 0.5))
    front(canvas)
    assert np.abs(stage.picture().astype(int) - canvas.rgba[..., :3]).max() <= 1


def test_a_picture_is_its_owners() -> None:
    stage = fresh()
    first = stage.picture()
    kept = first.copy()
    first[:] = 7
    assert np.array_equal(stage.picture(), kept)


def test_only_so_many_stages_are_kept_as_there_is_room_for() -> None:
    made: list[int] = []

    def make(number: int) -> Stage:
        made.append(number)
        return fresh()

    stages = Stages(room_bytes=2 * fresh().nbytes)
    for number in (1, 2, 1, 3, 1, 2):
        with stages.on(number, lambda number=number: make(number)) as stage:
            assert not stage.canvas.touched.any()
    assert made == [1, 2, 3, 2], "the one used longest ago goes first"
    assert stages.nbytes <= 2 * fresh().nbytes
    small = Stages(room_bytes=1)
    with small.on(1, fresh) as stage:
        assert stage.picture().shape == (100, 100, 3)
    assert small.nbytes == 0


def test_a_failure_while_drawing_leaves_the_stage_usable() -> None:
    stages = Stages()
    with pytest.raises(ValueError), stages.on(1, fresh) as stage:
        paint(stage.canvas, [("fill", 0, 0, 100, 100)])
        raise ValueError
    with stages.on(1, fresh) as stage:
        assert np.array_equal(stage.picture(), fresh().picture())
