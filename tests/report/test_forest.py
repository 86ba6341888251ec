from __future__ import annotations

import pytest

from overread.report.forest import MARGIN, WIDTH, Scale


@pytest.mark.parametrize(
    ("value", "low", "high", "side"),
    [
        (0.3, 0.1, 0.5, "above"),
        (0.3, -0.1, 0.5, "unclear"),
        (0.3, 0.0, 0.5, "unclear"),
        (-0.3, -0.5, -0.1, "below"),
        (0.3, None, None, "unclear"),
    ],
)
def test_a_bar_is_on_a_side_only_if_its_whole_interval_is(
    value: float, low: float | None, high: float | None, side: str
) -> None:
    assert Scale.of([value, low, high]).bar(value, low, high).side == side


def test_all_places_lie_in_the_drawing_and_in_order() -> None:
    bar = Scale.of([-0.2, 0.4, None, 0.6]).bar(0.4, -0.2, 0.6)
    assert MARGIN == bar.low < bar.zero < bar.at < bar.high == WIDTH - MARGIN


def test_a_scale_without_width_still_has_a_middle() -> None:
    bar = Scale.of([None]).bar(0.0, None, None)
    assert bar.zero == bar.at == WIDTH / 2
