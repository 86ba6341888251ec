"""From what the user writes behind --model to a model with a name, an identity and what it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overread.columns import to_frame
from overread.engines.candidates import Candidate, parse_model, seat_candidate
from overread.errors import BadInput
from overread.models.contract import ExamTables
from overread.tables import Dialogue, Key, Question, canonical

TOY = '''"""T"""
KINDS = ("choice",)
FORMS = {{"ecg": "signal"}}
class Toy:
    def identity(self):
        return {identity}
    def answer(self, dialogues):
        return iter(())
    def fit(self, exam):
        raise RuntimeError("a model of the user's was given the key")
{more}
def load(setting):
    return Toy()
'''


def no_exam() -> ExamTables:
    return ExamTables(*(to_frame([], row).lazy() for row in (Dialogue, Question, Key)))


def toy(folder: Path, identity: str = "{}", more: str = "") -> str:
    path = folder / "toy.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(TOY.format(identity=identity, more=more))
    return str(path)


def seated(text: str, media: tuple[str, ...] = ()) -> Candidate:
    return seat_candidate(text, no_exam, media)


@pytest.mark.parametrize(
    ("text", "name", "variant", "options"),
    [
        ("chance", "chance", "", {}),
        ("prior:chain", "prior", "chain", {}),
        ("foreign[script=a.py]", "foreign", "", {"script": "a.py"}),
        ("m:v[a=1,b=x, c = y ]", "m", "v", {"a": "1", "b": "x", "c": "y"}),
        ("m[path=/a,b/c,option.k=v=w]", "m", "", {"path": "/a,b/c", "option.k": "v=w"}),
        ("./mine.py[a=[1,2]]", "./mine.py", "", {"a": "[1,2]"}),
        ("m[]", "m", "", {}),
    ],
)
def test_a_model_is_read_as_name_variant_and_options(
    text: str, name: str, variant: str, options: dict[str, str]
) -> None:
    wanted, setting = parse_model(text)
    assert (setting.name, setting.variant, dict(setting.options)) == (name, variant, options)
    assert wanted == f"{name}:{variant}" if variant else name


@pytest.mark.parametrize("text", ["", "  ", "[a=1]", "m[a=1", "m]", "m[a]", "m[a=1]x"])
def test_what_is_no_model_is_said(text: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_model(text)
    assert "--model" in str(error.value)


@given(st.text(max_size=20))
def test_any_text_is_a_model_or_an_error_that_says_how_to_write_one(text: str) -> None:
    try:
        wanted, setting = parse_model(text)
    except BadInput as error:
        assert "NAME" in str(error)
    else:
        assert wanted and setting.name in wanted


def test_one_name_with_other_options_is_another_identity_under_the_name_as_written() -> None:
    texts = ("oracle", "oracle[anywhere=true]", "prior", "prior:chain", "chance", "chance:draw")
    seats = [seated(text).seat for text in texts]
    assert [seat.model for seat in seats] == list(texts)
    assert len({seat.identity for seat in seats}) == len(texts)
    assert [seat.looks for seat in seats] == [False] * len(texts)


def test_the_identity_of_a_file_follows_its_bytes_and_not_its_place(tmp_path: Path) -> None:
    one, same = (seated(toy(tmp_path / folder)).seat for folder in "ab")
    assert one.identity == same.identity
    assert str(tmp_path) not in json.dumps(one.details)
    assert seated(toy(tmp_path / "c", more="    edition = 2")).seat.identity != one.identity


@pytest.mark.parametrize(
    ("identity", "kept"),
    [
        ("{'labels': {'b', 'a', 'c'}}", ["a", "b", "c"]),
        ("{'labels': float('nan')}", "nan"),
        ("{'labels': (1, None, True)}", [1, None, True]),
        ("{'labels': {1: b'x'}}", {"1": "b'x'"}),
    ],
)
def test_whatever_an_identity_holds_becomes_plain_json_of_one_order(tmp_path: Path, identity: str, kept: Any) -> None:
    details = seated(toy(tmp_path, identity)).seat.details
    assert details["labels"] == kept
    canonical(details)


@pytest.mark.parametrize(
    ("identity", "more", "said"),
    [
        ("1 / 0", "", "cannot be loaded: ZeroDivisionError"),
        ("'weights'", "", "the identity of the model is str, not a mapping"),
        ("{}", "    def __init__(self):\n        import no_such_module\n", "ModuleNotFoundError"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_told_and_not_thrown(
    tmp_path: Path, identity: str, more: str, said: str
) -> None:
    text = toy(tmp_path, identity, more)
    with pytest.raises(BadInput) as error:
        seated(text)
    assert said in str(error.value) and text in str(error.value)


def test_a_model_says_itself_what_it_takes_where_it_knows_better_than_its_file(tmp_path: Path) -> None:
    more = "    kinds, forms, samples = ('number',), {'clip': 'frames'}, False\n"
    more += "    def provenance(self):\n        return {'card': 'none'}"
    candidate = seated(toy(tmp_path, more=more), ("clip",))
    assert (candidate.kinds, dict(candidate.forms)) == (frozenset(["number"]), {"clip": "frames"})
    assert not candidate.seat.samples and candidate.provenance == {"card": "none"}
    plain = seated(toy(tmp_path))
    assert (plain.kinds, dict(plain.forms), plain.seat.samples) == (frozenset(["choice"]), {"ecg": "signal"}, True)
    assert "card" not in candidate.seat.details


def test_a_model_must_take_all_media_of_the_exam_or_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="takes ecg and this exam shows clip"):
        seated(toy(tmp_path), ("ecg", "clip"))
    assert not seated("chance", ("ecg", "clip")).seat.looks


def test_only_prior_and_oracle_are_given_the_key_and_no_file_of_that_name(tmp_path: Path) -> None:
    fitted: list[str] = []

    def exam() -> ExamTables:
        fitted.append("asked for")
        return no_exam()

    seat_candidate(toy(tmp_path), exam, ()).ready()
    (tmp_path / "prior.py").write_text((tmp_path / "toy.py").read_text())
    seat_candidate(str(tmp_path / "prior.py"), exam, ()).ready()
    seat_candidate("chance", exam, ()).ready()
    assert fitted == []
    candidate = seat_candidate("oracle", exam, ())
    assert fitted == [], "the key is read when the model is needed, not before"
    candidate.ready()
    assert fitted == ["asked for"]


def test_ready_gives_the_loaded_model_first_and_then_fresh_ones(tmp_path: Path) -> None:
    candidate = seated(toy(tmp_path))
    models = [candidate.ready() for _ in range(3)]
    assert models[0] is candidate.model
    assert len({id(model) for model in models}) == 3
