"""An ECG handed over as a sheet, from the reader of media up to a run with models that take it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from overread.errors import BadInput
from overread.media import ecg, sheet
from overread.media.reader import MediaReader, check_form
from overread.media.wfdb import write_record
from overread.roots import Roots
from overread.runs.folder import Run
from overread.tables import Media

Sit = Callable[..., tuple[Run, list[str]]]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    mv = np.round(np.random.default_rng(3).normal(scale=0.2, size=(12, 3000)), 3)
    write_record(tmp_path, "r", mv, 250.0, ecg.LEADS)
    return tmp_path / "r"


def test_the_form_is_the_drawn_sheet_with_the_samples_that_it_shows(record: Path) -> None:
    study = ecg.read(record, (250, 3000))
    delivered = ecg.deliver(study, "sheet:clinical,dpi=60")
    drawn = sheet.draw(study.mv, 250.0, ecg.LEADS, "clinical,dpi=60")
    assert np.array_equal(delivered.data, drawn.image)
    assert delivered.data.dtype == np.uint8 and not delivered.data.flags.writeable
    assert delivered.form == "sheet:clinical,dpi=60"
    assert delivered.indices == (250, 2750), "a clinical sheet has room for ten seconds"
    assert delivered.shape == drawn.image.shape
    assert delivered.hash == hashlib.sha256(drawn.image.tobytes()).hexdigest()[:24]
    facts = json.loads(json.dumps(delivered.facts))
    assert facts["sheet"] == "clinical,dpi=60" and facts["rate_hz"] == 250.0
    assert {one["lead"] for one in facts["boxes"]} == set(ecg.LEADS)


def test_without_a_profile_it_is_the_clinical_one(record: Path) -> None:
    delivered = ecg.deliver(ecg.read(record), "sheet")
    assert (delivered.form, delivered.facts["sheet"]) == ("sheet", "clinical")
    assert delivered.shape == (1680, 2376, 3)


def test_a_change_is_drawn_from_the_changed_signal(record: Path) -> None:
    study = ecg.read(record, (0, 2500))
    shown = {name: ecg.deliver(ecg.change(study, name, 1), "sheet:upstream") for name in ("blank", "reverse", "leads")}
    hashes = {one.hash for one in shown.values()} | {ecg.deliver(study, "sheet:upstream").hash}
    assert len(hashes) == 4
    empty = sheet.draw(np.zeros((12, 2500)), 250.0, ecg.LEADS, "upstream").image
    assert np.array_equal(shown["blank"].data, empty)
    assert shown["blank"].shape == shown["reverse"].shape


@pytest.mark.parametrize("form", ["sheet:poster", "sheet:", "sheet:clinical,dpi=x", "signal:clinical", "frames"])
def test_a_form_that_there_is_not_is_refused_before_anything_is_read(form: str) -> None:
    with pytest.raises(BadInput):
        check_form("ecg", form)


@pytest.mark.parametrize("form", ["sheet", "sheet:upstream", "sheet:12x1,dpi=100", "signal", "path"])
def test_forms_that_there_are_pass(form: str) -> None:
    check_form("ecg", form)


def test_a_sheet_is_no_kind_of_medium(record: Path) -> None:
    reader = MediaReader(Roots({"data": record.parent}), {"sheet": "path"})
    with reader, pytest.raises(BadInput, match="no kind of medium named 'sheet'"):
        reader.look(Media("s", "sheet", "data://r"))


MODEL = '''"""Looks at a sheet."""
from overread.models.contract import Answer, seen_by_tensor
KINDS = ("choice",)
FORMS = {"ecg": "DRAWN"}
class Model:
    def identity(self):
        return {"edition": 1}
    def answer(self, dialogues):
        for posed in dialogues:
            for pending in posed.questions:
                media = [medium for message in posed.prompt(pending) for medium in message.media]
                given = [posed.look(medium) for medium in media]
                seen = tuple(seen_by_tensor(medium, one) for medium, one in zip(media, given))
                dark = sum(int((one.data < 100).sum()) for one in given)
                choice = (dark % len(pending.question.options),)
                yield Answer(pending.question.id, pending.seed, pending.sample, choice=choice, seen=seen)
def load(setting):
    return Model()
'''

SCRIPT = """
KINDS = ["choice"]
FORMS = {"ecg": "sheet:upstream"}
def load(options):
    return None
def answer(model, request):
    for question in request.questions:
        names = [name for message in question.messages for name in message["media"]]
        for name in names:
            assert request.media[name].shape[2] == 3 and str(request.media[name].dtype) == "uint8"
            assert len(request.facts[name]["boxes"]) == 12
        seen = [request.fed(name, request.media[name]) for name in names]
        yield question.answer(choice=0, seen=seen)
"""


def test_a_model_that_takes_sheets_sits_an_exam_and_its_receipts_say_so(sit: Sit, tmp_path: Path) -> None:
    path = tmp_path / "looker.py"
    path.write_text(MODEL.replace("DRAWN", "sheet:clinical,dpi=40"))
    run, notes = sit("ecg_steps", str(path), protocol="single", conditions="blank,reverse")
    assert notes == []
    assert set(run.table("replies")["status"]) == {"answered"}
    receipts = run.table("receipts")
    assert set(receipts["form"]) == {"sheet:clinical,dpi=40"} and set(receipts["level"]) == {"tensor"}
    assert set(receipts["change"]) == {"", "blank", "reverse"}
    assert all(shape[2] == 3 and shape[0] < shape[1] for shape in receipts["shape"].to_list())
    assert all(stop > start == 0 for start, stop in receipts["indices"].to_list())
    assert receipts.filter(pl.col("change") == "").select("hash").n_unique() > 1


def test_a_script_in_an_environment_of_its_own_gets_the_sheet_as_an_array(sit: Sit, tmp_path: Path) -> None:
    import sys

    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    run, notes = sit("ecg_steps", f"foreign[python={sys.executable},script={path}]", protocol="single", limit=2)
    assert notes == []
    assert set(run.table("replies")["status"]) == {"answered"}
    assert set(run.table("receipts")["form"]) == {"sheet:upstream"}
    assert set(run.table("receipts")["level"]) == {"tensor"}


def test_a_model_with_a_sheet_that_there_is_not_is_refused_before_it_is_asked(sit: Sit, tmp_path: Path) -> None:
    path = tmp_path / "looker.py"
    path.write_text(MODEL.replace("DRAWN", "sheet:clinicle"))
    with pytest.raises(BadInput, match="did you mean clinical"):
        sit("ecg_steps", str(path), protocol="single")


@pytest.mark.real
def test_real_records_are_drawn_in_every_profile(real_data: Path) -> None:
    headers = sorted((real_data / "ptbxl").rglob("*.hea"))[:2] + sorted((real_data / "ludb").rglob("*.hea"))[:2]
    for header in headers:
        study = ecg.read(header.with_suffix(""))
        for profile in ("clinical,dpi=80", "6x2,dpi=80", "12x1,dpi=80", "upstream"):
            drawn = sheet.draw(study.mv, study.rate_hz, study.leads, profile)
            for box in drawn.boxes:
                samples = np.arange(*box.samples)[50:-50:97]
                x, y = box.to_px(samples / study.rate_hz, study.mv[study.leads.index(box.lead), samples])
                red = drawn.image[..., 0]  # paper and grid are full of it, traces have little
                near = [red[int(b) - 2 : int(b) + 3, int(a) - 1 : int(a) + 2].min() for a, b in zip(x, y, strict=True)]
                assert max(near) < 225, f"{header.stem} {profile} {box.lead}: the trace is not where its box says"
