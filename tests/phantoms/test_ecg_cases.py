"""Every recipe has what it claims to have, by the decision graphs on the phantom's own facts."""

from __future__ import annotations

import pytest

from overread.guidelines.diagnoses import Reading, book, diagnoses
from overread.guidelines.rules import PLAIN_MARGIN, Outcome
from overread.phantoms.ecg import RHYTHMS, ecg_phantom, recipes

LABELS = {"normal", "1dAVb", "RBBB", "LBBB", "SB", "ST", "AF", "PAC", "PVC", "STD", "STE"}
SEEDS = range(100, 103)
ALMOST = 1e-6


class Flipped(Reading):
    """A reading on which one finding is the other way round."""

    def __init__(self, reading: Reading, name: str) -> None:
        self._rules, self._name = reading._rules, name

    def finding(self, name: str) -> Outcome:
        found = super().finding(name)
        return Outcome(-found.high, -found.low, found.sure) if name == self._name else found


def check(name: str, seed: int) -> None:
    recipe, phantom = recipes()[name], ecg_phantom(seed, name)
    reading = Reading(phantom.facts)
    decisions = {one.diagnosis: one for one in reading.all()}
    assert {one for one, found in decisions.items() if found.present} == recipe.has
    assert phantom.truth["diagnoses"] == sorted(recipe.has)
    assert min(found.margin for found in decisions.values()) >= 1.0 - ALMOST
    if recipe.diagnosis is None:
        return
    decision = decisions[recipe.diagnosis]
    if recipe.misses is None:
        assert decision.present and recipe.diagnosis in recipe.has
        held = tuple(one for one, outcome in decision.path if outcome.holds)
        assert held == recipe.path or not recipe.path
        return
    assert decision.present is False
    assert recipe.misses in [one for one, _ in decision.path]
    by = reading.finding(recipe.misses).margin
    assert 1.0 - ALMOST <= by <= 2.0 + ALMOST or by == PLAIN_MARGIN
    # All other findings are kept: with this one the other way round, the diagnosis is there.
    assert Flipped(reading, recipe.misses).decide(recipe.diagnosis).present is True


@pytest.mark.parametrize("name", recipes())
def test_an_ecg_has_what_its_recipe_claims_clear_of_every_threshold(name: str) -> None:
    for seed in SEEDS:
        check(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", recipes())
def test_claims_hold_for_many_seeds(name: str) -> None:
    for seed in range(40):
        check(name, seed)


def test_every_diagnosis_has_recipes_and_near_misses() -> None:
    made = {recipe.diagnosis for recipe in recipes().values() if not recipe.misses}
    missed = {recipe.diagnosis for recipe in recipes().values() if recipe.misses}
    assert made - {None} == missed - {None} == set(diagnoses())


def test_every_threshold_is_just_missed_by_some_recipe() -> None:
    # A finding that is a yes or no cannot be nearly there, and the second way to a block leads through the first.
    plain = {name for name, rule in book()["findings"].items() if "is" in rule or "diagnosis" in rule}
    missed = {recipe.misses for recipe in recipes().values()}
    assert set(book()["findings"]) - plain - missed == {"notched_lateral_r"}


def test_every_way_to_a_yes_is_made() -> None:
    def paths(diagnosis: str) -> set[tuple[str, ...]]:
        return {r.path for r in recipes().values() if r.diagnosis == diagnosis and not r.misses}

    assert len(paths("complete_left_bundle_branch_block")) == 2
    assert len(paths("complete_right_bundle_branch_block")) == 2
    assert len(paths("left_ventricular_hypertrophy")) == 4
    assert len(paths("right_ventricular_hypertrophy")) == 3
    for place in ("anterior", "inferior", "lateral"):
        assert len(paths(f"{place}_myocardial_infarction")) == len(paths(f"{place}_ischemia")) == 2


def test_the_labels_of_archives_are_all_made() -> None:
    assert {label for recipe in recipes().values() for label in recipe.labels} == LABELS


def test_the_rhythms_of_archives_are_recipes() -> None:
    assert set(RHYTHMS) <= set(recipes())


def test_an_ecg_of_five_seconds_or_at_another_rate_has_the_same_diagnoses() -> None:
    for name in ("second_degree_av_block/mobitz", "premature_atrial_complex", "third_degree_av_block/but_dissociation"):
        for settings in ({"seconds": 5.0}, {"rate_hz": 100}, {"rate_hz": 1000}):
            made = ecg_phantom(3, name, **settings)  # type: ignore[arg-type]
            assert made.truth["diagnoses"] == sorted(recipes()[name].has)


def test_a_near_miss_is_not_the_same_ecg_every_time() -> None:
    for name in ("left_anterior_fascicular_block/but_qr_i_avl", "lateral_myocardial_infarction/but_q_lateral"):
        assert len({ecg_phantom(seed, name).facts.leads["I"].r_mv for seed in range(8)}) == 8
