from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from overread.phantoms.draws import generator
from overread.phantoms.ecg_cases import recipes
from overread.phantoms.ecg_rhythms import Timeline, timeline

SPAN = 12_000
SEEDS = range(6)


def lines(name: str, **changes: Any) -> list[Timeline]:
    numbers = {**recipes()[name].rhythm, **changes}
    return [timeline(generator("rhythm", seed), numbers, SPAN) for seed in SEEDS]


def gaps(line: Timeline) -> np.ndarray:
    return np.diff([beat.onset for beat in line.beats])


def pr(line: Timeline) -> list[int]:
    return [beat.onset - beat.p for beat in line.beats if beat.p is not None]


@pytest.mark.parametrize("name", recipes())
def test_beats_come_in_order_at_whole_even_times_over_the_whole_span(name: str) -> None:
    for line in lines(name):
        assert gaps(line).min() > 200
        assert line.beats[0].onset < gaps(line).max() and line.beats[-1].onset > SPAN
        times = [beat.onset for beat in line.beats] + [beat.p for beat in line.beats if beat.p is not None]
        assert all(isinstance(at, int) and at % 2 == 0 for at in [*times, *line.lone_p, *line.spikes])


def test_sinus_rhythm_is_steady_and_conducted_beat_by_beat() -> None:
    for line in lines("normal"):
        assert len(set(pr(line))) == 1 and len(pr(line)) == len(line.beats)
        assert np.ptp(gaps(line)) / gaps(line).mean() < 0.05
        assert line.regular and line.one_to_one and not (line.dropped or line.fibrillation)


def test_sinus_arrhythmia_is_irregular() -> None:
    for line in lines("sinus_arrhythmia"):
        assert not line.regular and np.ptp(gaps(line)) / gaps(line).mean() > 0.25


def test_wenckebach_lengthens_pr_until_a_beat_is_dropped() -> None:
    for line in lines("second_degree_av_block/wenckebach"):
        assert line.dropped and line.blocked_p and not line.one_to_one
        assert len(line.lone_p) >= 2
        for lone in line.lone_p[:-1]:
            after = [beat for beat in line.beats if beat.onset > lone][:3]
            steps = np.diff([beat.onset - (beat.p or 0) for beat in after])
            assert steps.min() > 0 and steps[0] >= steps[1]


def test_mobitz_drops_a_beat_at_a_steady_pr() -> None:
    for line in lines("second_degree_av_block/mobitz"):
        assert len(set(pr(line))) == 1 and line.lone_p
        assert gaps(line).max() > 1.8 * gaps(line).min()


def test_in_two_to_one_block_no_beat_is_longer_away_than_others() -> None:
    for line in lines("third_degree_av_block/but_dissociation"):
        assert np.ptp(gaps(line)) / gaps(line).mean() < 0.05
        assert abs(len(line.lone_p) - len(line.beats)) <= 1
        assert not (line.dropped or line.blocked_p or line.one_to_one)


def test_a_sinus_pause_holds_no_p_wave() -> None:
    for line in lines("second_degree_av_block/but_blocked_p"):
        pause = int(gaps(line).argmax())
        assert gaps(line)[pause] > 1.7 * np.median(gaps(line)) and not line.lone_p
        assert line.dropped and not line.blocked_p


def test_dissociated_atria_and_ventricles_keep_their_own_time() -> None:
    for line in lines("third_degree_av_block/dissociated"):
        atria = np.diff(line.lone_p)
        assert np.ptp(atria) / atria.mean() < 0.05 and np.ptp(gaps(line)) / gaps(line).mean() < 0.05
        assert atria.mean() < 0.85 * gaps(line).mean() and not pr(line)
        before = [beat.onset - max(p for p in line.lone_p if p < beat.onset) for beat in line.beats[3:]]
        assert np.ptp(before) > 150


@pytest.mark.parametrize("kind", ["atrial", "ventricular"])
def test_premature_beats_come_early_and_alone(kind: str) -> None:
    for line in lines(f"premature_{kind}_complex"):
        early = [k for k, beat in enumerate(line.beats) if beat.early and beat.onset < SPAN]
        usual = np.median(gaps(line))
        assert early and min(np.diff(early), default=9) >= 4
        for k in early:
            assert gaps(line)[k - 1] < 0.78 * usual < gaps(line)[k]
            assert (line.beats[k].p is None) == (kind == "ventricular")
            assert line.beats[k].kind == kind[0].upper()


@pytest.mark.parametrize("kind", ["atrial", "ventricular"])
def test_bigeminy_alternates_after_some_ordinary_beats(kind: str) -> None:
    for line in lines(f"premature_{kind}_complex/bigeminy"):
        marks = [beat.early for beat in line.beats]
        start = marks.index(True)
        assert start >= 3 and marks[start:] == [k % 2 == 0 for k in range(len(marks) - start)]
        assert sum(marks) < len(marks) / 2


@pytest.mark.parametrize("kind", ["atrial", "ventricular"])
def test_couplets_are_two_in_a_row(kind: str) -> None:
    for line in lines(f"premature_{kind}_complex/couplet"):
        marks = "".join("x" if beat.early else "." for beat in line.beats)
        assert "xx" in marks and "xxx" not in marks and ".x." not in marks


def test_fibrillation_has_no_p_waves_and_no_order() -> None:
    for line in lines("atrial_fibrillation"):
        assert not line.p_waves and line.fibrillation and not line.regular
        assert gaps(line).std() / gaps(line).mean() > 0.15
    for line in lines("third_degree_av_block/fibrillation"):
        assert line.fibrillation and line.regular and gaps(line).std() / gaps(line).mean() < 0.02


def test_ventricular_tachycardia_is_fast_and_regular_without_p_waves() -> None:
    for line in lines("ventricular_tachycardia"):
        assert 320 < gaps(line).mean() < 420 and line.regular and line.tachycardia and not line.p_waves


def test_spikes_stand_just_before_what_they_pace() -> None:
    for line in lines("paced/ventricle"):
        assert {beat.onset - spike for beat, spike in zip(line.beats, line.spikes, strict=True)} <= {4, 6, 8, 10}
    for line in lines("paced/atrium_and_ventricle"):
        assert len(line.spikes) == 2 * len(line.beats)
        assert all(any(0 < (beat.p or 0) - spike <= 14 for spike in line.spikes) for beat in line.beats)
    for line in lines("paced/in_fibrillation"):
        assert line.fibrillation and len(line.spikes) == len(line.beats)
