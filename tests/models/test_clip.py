"""Contrastive models: options scored as sentences, less what they score on an empty study."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overread.errors import BadInput
from overread.media.contract import Delivered
from overread.media.deliver import digest
from overread.models import clip
from overread.models.contract import Answer, Message, Pending, Posed, Setting
from overread.report.table import headline_rows
from overread.tables import Dialogue, Media, Question

OPTIONS = ("sinus rhythm", "bradycardia", "tachycardia")
CLIP = Media("clip", "clip", "phantoms://one")


def _towers() -> Any:
    spec = importlib.util.spec_from_file_location("overread_test_towers", Path(__file__).parent / "clip" / "towers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found: Path = _towers().clip(tmp_path_factory.mktemp("weights") / "tiny-clip")
    return found


def loaded(path: Path, **options: str) -> clip.Clip:
    return clip.load(Setting("clip", options={"path": str(path), "device": "cpu", **options}))


def frames(seed: int, count: int = 4) -> np.ndarray[Any, Any]:
    drawn = np.random.default_rng(seed).integers(0, 256, (count, 8, 8, 3), dtype=np.uint8)
    return drawn.repeat(8, axis=1).repeat(8, axis=2)


def posed(array: np.ndarray[Any, Any], kind: str = "choice", *, shown: bool = True, **about: Any) -> Posed:
    def look(medium: Media) -> Delivered:
        given = np.zeros_like(array) if medium.change == "blank" else array
        return Delivered("frames", given, tuple(range(len(given))), given.shape, digest(given), {})

    media = (CLIP,) if shown else ()
    asked = Message("user", "Which rhythm?", media)
    question = Question("q", "d", 0, "i", "t", kind, asked.text, asked.text, "key", "p", OPTIONS, **about)  # type: ignore[arg-type]
    dialogue = Dialogue("d", "b", "p", "c", "a/1", "i", "plain", "open", media, ())
    return Posed(dialogue, (), (Pending(question, 0, asked, 0, 0),), look)


def answer(model: clip.Clip, dialogue: Posed) -> Answer:
    (said,) = model.answer([dialogue])
    return said


def test_options_get_probabilities_and_the_nearest_is_chosen(weights: Path) -> None:
    said = answer(loaded(weights), posed(frames(1)))
    assert said.option_scores is not None and said.choice is not None
    assert sum(said.option_scores) == pytest.approx(1.0)
    assert said.choice == (int(np.argmax(said.option_scores)),)
    (seen,) = said.seen
    assert (seen.level, seen.indices, seen.shape) == ("tensor", (0, 1, 2, 3), (4, 3, 64, 64))


def test_different_studies_give_different_inputs_and_scores(weights: Path) -> None:
    model = loaded(weights)
    one, other = answer(model, posed(frames(1))), answer(model, posed(frames(2)))
    assert one.seen[0].hash != other.seen[0].hash
    assert one.option_scores != other.option_scores


def test_an_empty_study_chooses_nothing(weights: Path) -> None:
    said = answer(loaded(weights), posed(np.zeros((4, 64, 64, 3), np.uint8)))
    assert said.choice is None
    assert said.option_scores == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    kept = answer(loaded(weights, blank="keep"), posed(np.zeros((4, 64, 64, 3), np.uint8)))
    assert kept.choice is not None, "with what sentences score by themselves, one of them is the nearest"


def test_what_a_sentence_scores_on_an_empty_study_is_taken_off(weights: Path) -> None:
    def logs(said: Answer) -> np.ndarray[Any, Any]:
        return np.log(np.array(said.option_scores))

    less, keep = loaded(weights), loaded(weights, blank="keep")
    study, empty = answer(keep, posed(frames(1))), answer(keep, posed(np.zeros((4, 64, 64, 3), np.uint8)))
    expected = logs(study) - logs(empty)
    found = logs(answer(less, posed(frames(1))))
    assert found - found.mean() == pytest.approx(expected - expected.mean(), abs=1e-6)


def test_a_clip_is_the_mean_over_its_frames_or_its_nearest_frame(weights: Path) -> None:
    mean, nearest = loaded(weights, blank="keep"), loaded(weights, blank="keep", pool="max")
    still = frames(1, 1).repeat(3, axis=0)
    for model in (mean, nearest):
        one, many = answer(model, posed(still[:1])), answer(model, posed(still))
        assert one.option_scores == pytest.approx(many.option_scores, abs=1e-5)
    moving = posed(frames(3))
    assert answer(mean, moving).option_scores != answer(nearest, moving).option_scores
    shuffled = posed(frames(3)[[2, 0, 3, 1]])
    assert answer(mean, moving).option_scores == pytest.approx(answer(mean, shuffled).option_scores, abs=1e-5)


def test_the_sentence_is_part_of_the_question_and_of_the_identity(weights: Path) -> None:
    plain, told = loaded(weights), loaded(weights, sentence="An ECG that shows {option}.")
    assert plain.identity() != told.identity()
    assert answer(plain, posed(frames(1))).option_scores != answer(told, posed(frames(1))).option_scores
    assert plain.identity()["track"] == "contrastive"


def test_several_options_are_those_nearer_to_the_study_than_to_an_empty_one(weights: Path) -> None:
    said = answer(loaded(weights), posed(frames(1), many=True))
    assert said.option_scores is not None
    assert said.choice == tuple(place for place, chance in enumerate(said.option_scores) if chance > 0.5)


def test_an_embedding_comes_as_a_vector_of_length_one(weights: Path) -> None:
    said = answer(loaded(weights), posed(frames(1), "embedding"))
    assert said.blob is not None
    vector = np.load(io.BytesIO(said.blob), allow_pickle=False)
    assert vector.shape == (24,) and np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_without_a_study_there_is_nothing_to_compare(weights: Path) -> None:
    assert answer(loaded(weights), posed(frames(1), shown=False)).status == "refused"


def test_a_sentence_that_the_text_tower_would_cut_fails(weights: Path) -> None:
    said = answer(loaded(weights, sentence="very " * 60 + "{option}"), posed(frames(1)))
    assert said.status == "failed" and "the text tower takes 40" in said.reason


def test_a_siglip_model_is_taken_too(tmp_path: Path) -> None:
    said = answer(loaded(_towers().siglip(tmp_path / "tiny-siglip")), posed(frames(1)))
    assert said.option_scores is not None and sum(said.option_scores) == pytest.approx(1.0)


def test_a_model_that_ignores_its_pictures_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="two different pictures have the same embedding"):
        loaded(_towers().clip(tmp_path / "blind", blind=True))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "no weights are named"),
        ({"path": "x", "pol": "mean"}, "no option of clip named 'pol'"),
        ({"path": "x", "pool": "sum"}, "pool=sum is not known"),
        ({"path": "x", "sentence": "An ECG."}, "no place for the option"),
        ({"path": "nowhere/at-all"}, "cannot be loaded"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(BadInput, match=said):
        clip.load(Setting("clip", options=options))


def test_a_contrastive_model_has_a_track_of_its_own_in_a_report(weights: Path, sit: Any) -> None:
    run, _ = sit("ecg_steps", f"clip[path={weights},device=cpu]", "ecg_solver", "chance", limit=3)
    rows = {row["model"].partition("[")[0]: row for row in headline_rows(run)}
    assert {name: row["group"] for name, row in rows.items()} == {
        "clip": "contrastive", "ecg_solver": "model", "chance": "reference",
    }  # fmt: skip
    assert rows["clip"]["receipts"] == "tensor" and rows["clip"]["coverage"] == 1.0
    assert "contrastive models, for which the options are scored" in (run.folder / "report.html").read_text()
