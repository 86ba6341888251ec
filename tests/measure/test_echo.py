from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overread.errors import BadInput
from overread.measure.echo import measure_clip
from overread.phantoms.echo import EchoPhantom, echo_phantom

SEEDS = range(6)


@functools.cache
def beat(seed: int) -> tuple[EchoPhantom, slice]:
    """A phantom, and a stretch of it shorter than a beat that holds both marked frames."""
    made = echo_phantom(seed, frames=128)
    truth = made.truth
    ed, es = next((d, s) for d in truth["ed_frames"] for s in truth["es_frames"] if 0 < s - d < 40)
    return made, slice(max(0, ed - 3), es + 4)


def disc(radius: float, frames: int = 1) -> np.ndarray:
    """A black disc on grey."""
    rows, columns = np.mgrid[-40:40, -40:40]
    grey = np.where(np.hypot(rows, columns) < radius, 4, 160).astype(np.uint8)
    return np.repeat(np.repeat(grey[None, ..., None], 3, axis=3), frames, axis=0)


def test_the_frames_are_found_to_within_sixty_milliseconds():
    for seed in SEEDS:
        made, part = beat(seed)
        found = measure_clip(made.frames[part])
        volume = np.array(made.truth["volume_ml"][part])
        limit = 0.06 * made.truth["fps"] + 0.5
        assert abs(found.ed_frame - volume.argmax()) <= limit
        assert abs(found.es_frame - volume.argmin()) <= limit


def test_the_area_follows_the_true_cavity():
    for seed in SEEDS:
        made, part = beat(seed)
        area = measure_clip(made.frames[part]).cavity_area
        true = made.cavity[part].sum(axis=(1, 2))
        assert area.shape == true.shape
        assert np.corrcoef(area, true)[0, 1] > 0.95


def test_a_clip_played_backwards_gives_the_same_frames():
    made, part = beat(1)
    forwards, backwards = measure_clip(made.frames[part]), measure_clip(made.frames[part][::-1])
    last = len(forwards.cavity_area) - 1
    assert (backwards.ed_frame, backwards.es_frame) == (last - forwards.ed_frame, last - forwards.es_frame)


def test_the_area_is_in_pixels_of_the_frames_as_given():
    radii = 18 + 4 * np.cos(np.linspace(0, 2 * np.pi, 24, endpoint=False))
    small = np.concatenate([disc(radius) for radius in radii])
    large = small.repeat(4, axis=1).repeat(4, axis=2)
    first, second = measure_clip(small), measure_clip(large)
    assert first.cavity_area == pytest.approx(np.pi * radii**2, rel=0.1)
    assert second.cavity_area == pytest.approx(16 * np.pi * radii**2, rel=0.1)


def test_of_several_cavities_the_one_that_beats_most_is_measured():
    radii = 18 + 5 * np.cos(np.linspace(0, 2 * np.pi, 24, endpoint=False))
    slow = np.concatenate([disc(radius) for radius in radii])
    still = disc(30, frames=24)
    found = measure_clip(np.concatenate([still, slow], axis=2))
    assert found.cavity_area == pytest.approx(np.pi * radii**2, rel=0.1)
    assert (found.ed_frame, found.es_frame) == (0, 12)


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        (np.zeros((12, 64, 64, 3)), "no picture"),
        (np.full((12, 64, 64, 3), 90), "one level of grey"),
        (disc(20, frames=12), "nothing beats"),
        (disc(20, frames=2), "too few"),
        (np.zeros((12, 64, 64)), "no clip"),
        (np.zeros((12, 4, 64, 3)), "no clip"),
        (np.random.default_rng(0).integers(0, 256, (40, 64, 64, 1)) * np.ones(3), "stays dark"),
    ],
)
def test_what_cannot_be_measured_is_named(frames, reason):
    with pytest.raises(BadInput, match=reason):
        measure_clip(frames.astype(np.uint8))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shape=st.tuples(st.integers(0, 8), st.integers(1, 40), st.integers(1, 40)),
    share=st.floats(0, 1),
)
def test_any_frames_are_measured_or_refused(seed, shape, share):
    rng = np.random.default_rng(seed)
    frames = (rng.random((*shape, 1)) < share) * rng.integers(0, 256, (1, *shape[1:], 3))
    try:
        found = measure_clip(frames.astype(np.uint8))
    except BadInput:
        return
    assert 0 <= found.ed_frame < shape[0] and 0 <= found.es_frame < shape[0]
