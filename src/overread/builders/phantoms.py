"""Phantoms: made-up patients with known truth, in the formats that archives use

media: ecg (WFDB), clip (AVI, some also DICOM), volume (NIfTI with label map)
terms: open

The folder is read back by `overread.archives.phantoms`. Every second patient has two ECGs; each has one clip and one
volume. About 0.1 seconds a patient.
"""

from __future__ import annotations

import csv
import json
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from overread.errors import BadInput, unknown_name
from overread.media.wfdb import write_record
from overread.phantoms.draws import generator
from overread.phantoms.ecg import RHYTHMS, ecg_phantom, recipes
from overread.phantoms.ecg_waves import LEADS
from overread.phantoms.echo import echo_phantom
from overread.phantoms.files import write_avi, write_dicom, write_names, write_nifti
from overread.phantoms.volume import volume_phantom
from overread.tables import canonical, content_id

KINDS = ("ecg", "echo", "volume")
EDITION = 2
"""Raised whenever the same settings give other files, so that older folders are not taken for new ones."""
MANIFEST = "phantoms.json"
SHAPE = (48, 40, 32)
SPACING_MM = (7.5, 7.5, 7.5)

README = """# Phantoms

Made-up patients, written by `overread build phantoms`. No person stands behind any of these files; use them freely.

- `ecg/`: 12-lead ECGs, 10 s at 500 Hz, WFDB format 16
- `echo/`: apical four-chamber clips, FFV1 in AVI; of some patients the same frames as a DICOM loop
- `volume/`: abdominal CT, NIfTI; `_seg.nii.gz` holds the label map, `_seg.json` the names of its numbers
- `patients.csv`: patient, sex, age
- `truth.jsonl`: one line a study: kind, file, patient, and as `facts` what is true of it
- `phantoms.json`: the settings that this folder was built with, and the size of every file in bytes

The phantoms test programs that read such files. They are not realistic enough to support any clinical claim.
"""


def build(
    out: Path, *, patients: int = 24, seed: int = 0, kinds: Sequence[str] = KINDS, ecgs: Sequence[str] = RHYTHMS
) -> Path:
    """Writes `patients` made-up patients with the given kinds of study into the folder `out`.

    `ecgs` are the recipes that ECGs are drawn from, in turn (`overread.phantoms.ecg.recipes`). The same settings give
    the same bytes. A complete folder of the same settings is left as it is.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise unknown_name("kind of phantom", kind, KINDS)
    for recipe in ecgs:
        if recipe not in recipes():
            raise unknown_name("ECG recipe", recipe, recipes())
    if not 1 <= patients <= 99_999 or not kinds or not ecgs or seed < 0:
        raise BadInput(
            f"cannot build {patients} patients with {len(kinds)} kinds of study from seed {seed}",
            do="give 1 to 99999 patients, at least one kind and recipe, and a seed from 0 on",
        )
    settings = {
        "edition": EDITION,
        "patients": patients,
        "seed": seed,
        "kinds": [k for k in KINDS if k in kinds],
        "ecgs": list(ecgs),
    }
    out = out.resolve()
    part = out.parent / f".{out.name}.{secrets.token_hex(4)}"
    try:
        if _is_built(out, settings):
            return out
        out.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir()
        _write(part, settings)
        _publish(part, out, settings)
    except OSError as error:
        raise BadInput(
            f"the phantoms cannot be written: {error}", where=str(out), do="choose another folder"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return out


def _is_built(out: Path, settings: dict[str, Any]) -> bool:
    """Whether `out` is complete; False where it does not exist or is empty, and an error in every other case."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return False
    try:
        manifest = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
        built, files = manifest["settings"], manifest["files"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            "something else than phantoms is already there", where=str(out), do="choose an empty folder"
        ) from error
    if built != settings:
        raise BadInput(
            f"the folder holds other phantoms: {built}, not {settings}",
            where=str(out),
            do="choose another folder, or delete this one",
        )
    for name, size in files:
        if not (out / name).is_file() or (out / name).stat().st_size != size:
            raise BadInput(
                "a phantom is missing or was changed", where=str(out / name), do=f"delete {out}, build again"
            )
    return True


def _publish(part: Path, out: Path, settings: dict[str, Any]) -> None:
    try:
        part.rename(out)
    except OSError:
        # Another process may have finished the same folder in the meantime.
        if not _is_built(out, settings):
            raise


def _write(folder: Path, settings: dict[str, Any]) -> None:
    rng = generator("patients", settings["seed"])
    for kind in settings["kinds"]:
        (folder / kind).mkdir()
    names = [f"p{number:04d}" for number in range(1, settings["patients"] + 1)]
    people = [(name, "FM"[int(rng.integers(2))], int(rng.integers(20, 91))) for name in names]
    with (folder / "patients.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([("patient", "sex", "age"), *people])
    with (folder / "truth.jsonl").open("w", encoding="utf-8", newline="\n") as stream:
        for kind in settings["kinds"]:
            for study in _STUDIES[kind](folder, names, settings):
                stream.write(canonical({"kind": kind, **study}) + "\n")
    (folder / "README.md").write_text(README, encoding="utf-8")
    sizes = {p.relative_to(folder).as_posix(): p.stat().st_size for p in sorted(folder.rglob("*")) if p.is_file()}
    manifest = json.dumps({"settings": settings, "files": sizes}, indent=1, sort_keys=True)
    (folder / MANIFEST).write_text(manifest + "\n", encoding="utf-8")


def _seed(kind: str, seed: int, number: int) -> int:
    return int(content_id(kind, str(seed), str(number)), 16)


def _ecgs(folder: Path, patients: list[str], settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All recipes equally often among first ECGs; a second one shows the same recipe or, half of the time, any."""
    seed = settings["seed"]
    rng = generator("rhythms", seed)
    order = rng.permutation(settings["ecgs"]).tolist()
    number = 0
    for place, patient in enumerate(patients):
        rhythm, other, again = order[place % len(order)], order[int(rng.integers(len(order)))], rng.random() < 0.5
        for shown in (rhythm,) if place % 2 == 0 else (rhythm, rhythm if again else other):
            number += 1
            name = f"{number:05d}"
            made = ecg_phantom(_seed("ecg", seed, number), shown)
            write_record(folder / "ecg", name, made.mv, made.rate_hz, LEADS)
            yield {"file": f"ecg/{name}", "patient": patient, "facts": made.truth}


def _clips(folder: Path, patients: list[str], settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    seed = settings["seed"]
    for number, patient in enumerate(patients, start=1):
        made = echo_phantom(_seed("echo", seed, number))
        grey, facts = np.ascontiguousarray(made.frames[..., 0]), dict(made.truth)
        file = f"echo/{number:05d}.avi"
        write_avi(folder / file, grey, facts["fps"])
        if number % 4 == 1:
            facts["dicom"] = f"echo/{number:05d}.dcm"
            write_dicom(folder / facts["dicom"], grey, facts["fps"], facts["spacing_mm"], patient)
        yield {"file": file, "patient": patient, "facts": facts}


def _volumes(folder: Path, patients: list[str], settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    seed = settings["seed"]
    for number, patient in enumerate(patients, start=1):
        made = volume_phantom(_seed("volume", seed, number), shape=SHAPE, spacing_mm=SPACING_MM)
        name = f"volume/{number:05d}"
        write_nifti(folder / f"{name}.nii.gz", made.voxels, made.affine)
        write_nifti(folder / f"{name}_seg.nii.gz", made.labels, made.affine)
        write_names(folder / f"{name}_seg.json", made.names)
        facts = {**made.truth, "labels": f"{name}_seg.nii.gz"}
        yield {"file": f"{name}.nii.gz", "patient": patient, "facts": facts}


_STUDIES = {"ecg": _ecgs, "echo": _clips, "volume": _volumes}
