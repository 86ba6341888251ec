"""A 12-lead ECG with exact truth: which diagnoses it has, every onset and offset, and what each lead shows.

What is drawn is chosen by name among `recipes`: each of the 17 diagnoses of `guidelines/ecg.yaml` on each of its paths,
near misses, and the rhythms that archives label. How it is disturbed is a matter of settings and changes no truth.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput, unknown_name
from overread.guidelines.diagnoses import Reading
from overread.guidelines.ecg_facts import EcgFacts
from overread.measure.ecg.boundaries import Boundaries
from overread.phantoms.draws import generator
from overread.phantoms.ecg_cases import Recipe, recipes
from overread.phantoms.ecg_drawing import draw, signal
from overread.phantoms.ecg_noise import Disturbance, Settings
from overread.phantoms.ecg_truth import Drawing, boundaries, dictionary, ecg_facts
from overread.phantoms.ecg_waves import Floats

__all__ = ["RHYTHMS", "EcgPhantom", "Recipe", "ecg_phantom", "recipes"]

RHYTHMS = (
    "normal",
    "sinus_bradycardia",
    "sinus_tachycardia",
    "atrial_fibrillation",
    "first_degree_block",
    "left_bundle_branch_block",
    "right_bundle_branch_block",
    "premature_ventricular",
)
"""The recipes that archives of phantoms are built from."""

TRIES = 400


@dataclasses.dataclass(frozen=True, slots=True)
class EcgPhantom:
    """A made-up ECG and what is true of it."""

    mv: npt.NDArray[np.float32]
    """Shape (12, samples), leads in the order of `LEADS`; every value is a whole number of microvolts."""
    rate_hz: int
    facts: EcgFacts
    """Of its ordinary beats as they were drawn; atrial fibrillation's waves and all disturbances left out."""
    boundaries: Boundaries
    """Of the beats whose QRS complex the record holds wholly. `atrial` is the mean of leads II and V1."""
    truth: dict[str, Any]
    """The same for archives, as JSON can hold it: the numbers of `facts`; `rhythm` (the recipe), `diagnoses` (those it
    has), `labels` (what archives would call it); `beats`, the samples where lead II is furthest from zero,
    `beat_types` (N ordinary, A premature atrial, V ventricular, P paced) and `waves` with `p`, `qrs`, `t`: the joint
    `[onset, offset]` in samples for each beat, or null where it has none or it is cut off; `lone_p`, `spikes`, and the
    facts of each lead as `lead_facts`. `regular` counts premature beats here."""


def ecg_phantom(
    seed: int, rhythm: str, *, seconds: float = 10.0, rate_hz: int = 500, **disturbance: Unpack[Settings]
) -> EcgPhantom:
    """An ECG of a recipe (one of `recipes()`).

    Settings that disturb it are the fields of `Disturbance`, such as `snr_db=30`; the beats below are the same whatever
    they are. Limb leads fulfil Einthoven's law exactly, in whole microvolts.
    """
    if rhythm not in recipes():
        raise unknown_name("rhythm", rhythm, recipes())
    if not (5.0 <= seconds <= 3600.0 and 50 <= rate_hz <= 10_000):
        raise BadInput(f"no ECG of {seconds:g} s at {rate_hz} Hz", do="give 5 to 3600 s and 50 to 10000 Hz")
    recipe, noise = recipes()[rhythm], Disturbance(**disturbance)
    samples = round(seconds * rate_hz)
    drawing, facts = _fitting(recipe, seed, samples, rate_hz)
    clean, atrial = signal(drawing, generator(f"ecg atria {rhythm}", seed))
    leads = noise.failed(_twelve(noise.disturbed(clean, rate_hz, seed)), rate_hz, seed)
    marks = boundaries(drawing, atrial, noise.usable())
    mv = (np.rint(leads * 1000) / 1000).astype(np.float32)
    return EcgPhantom(mv, rate_hz, facts, marks, dictionary(recipe, drawing, facts, marks))


def _fitting(recipe: Recipe, seed: int, samples: int, rate_hz: int) -> tuple[Drawing, EcgFacts]:
    """The first drawing that has what the recipe claims, clear of every threshold."""
    rng = generator(f"ecg {recipe.name}", seed)
    for _ in range(TRIES):
        drawing = draw(recipe, rng, samples, rate_hz)
        facts = ecg_facts(drawing)
        if recipe.fits(Reading(facts)):
            return drawing, facts
    raise BadInput(f"no ECG of {recipe.name} was found for seed {seed}", do="give a longer duration or another seed")


def _twelve(drawn: Floats) -> Floats:
    """All leads from the drawn eight. I and II are even numbers of microvolts, so that their halves are whole."""
    one, two = 2 * np.rint(drawn[:2] * 500)
    limb = np.stack([one, two, two - one, -(one + two) / 2, one - two / 2, two - one / 2])
    return np.asarray(np.concatenate([limb, np.rint(drawn[2:] * 1000)]) / 1000)
