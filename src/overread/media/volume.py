"""CT and MR volumes: NIfTI by nibabel, turned to RAS (axes towards the patient's right, front and head).

Probe: `mirror` exchanges left and right of the voxels and keeps the affine, so the body is mirrored, not the header.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from overread.errors import BadInput
from overread.media.contract import Delivered
from overread.media.deliver import (
    MOST_BYTES,
    as_path,
    chosen,
    digest,
    reading,
    sealed,
    wrong_change,
    wrong_form,
)

FORMS = ("tensor", "slices", "path")
CHANGES = ("mirror",)
WINDOW_HU = (-160.0, 240.0)
"""What slices of a CT are shown with: soft tissue."""
AIR_HU = -1000.0

_CT_BELOW = -100.0


@dataclasses.dataclass(frozen=True, slots=True)
class Volume:
    """A volume in RAS."""

    voxels: npt.NDArray[np.float32]
    """(x, y, z), in the file's units (HU for CT)."""
    spacing_mm: tuple[float, float, float]
    affine: npt.NDArray[np.float64]
    """(4, 4), from voxel to millimetre."""
    orientation: str
    slices: tuple[int, ...]
    """Selected axial slices, counted from the feet."""
    path: Path
    changed: str = ""

    @property
    def nbytes(self) -> int:
        """Memory of the voxels, in bytes."""
        return self.voxels.nbytes


def read(path: Path, select: Sequence[int] = ()) -> Volume:
    """Reads a volume; `select` are axial slices counted from the feet, all where empty."""
    with reading(path, "a NIfTI volume"):
        voxels, affine = _load(path)
    spacing = np.sqrt((affine[:3, :3] ** 2).sum(axis=0))
    x, y, z = (float(s) for s in spacing)
    return pick(Volume(voxels, (x, y, z), affine, "RAS", tuple(range(voxels.shape[2])), path), select)


def _load(path: Path) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
    import nibabel

    library: Any = nibabel
    image = library.load(path)
    where = str(path)
    if not isinstance(image, nibabel.Nifti1Image):
        raise BadInput("the file is not a NIfTI volume", where=where, do="give a .nii or .nii.gz file")
    shape = image.shape
    if len(shape) < 3 or any(n != 1 for n in shape[3:]):
        raise BadInput(f"the volume has shape {shape}, not three axes", where=where, do="give one volume at one time")
    if 0 in shape or 4 * int(np.prod(shape, dtype=np.float64)) > MOST_BYTES:
        raise BadInput(f"a volume of shape {shape} cannot be read", where=where, do="crop or resample it")
    if not int(image.header["sform_code"]) and not int(image.header["qform_code"]):
        raise BadInput(
            "the volume does not tell how it lies in the patient (no affine)",
            where=where,
            do="export it with its affine",
        )
    affine = np.asarray(image.affine, dtype=np.float64)
    if not np.isfinite(affine).all() or abs(np.linalg.det(affine[:3, :3])) < 1e-9:
        raise BadInput("the volume's affine is degenerate", where=where, do="export it again")
    ras = library.as_closest_canonical(image)
    voxels = np.ascontiguousarray(ras.get_fdata(dtype=np.float32, caching="unchanged")).reshape(ras.shape[:3])
    if not np.isfinite(voxels).any():
        raise BadInput("the volume holds no numbers", where=where, do="export it again")
    return voxels, np.asarray(ras.affine, dtype=np.float64)


def pick(study: Volume, select: Sequence[int]) -> Volume:
    """The selected axial slices of a whole volume; the voxels stay, since windows are found over all of them."""
    if not select:
        return study
    return dataclasses.replace(study, slices=chosen(select, study.voxels.shape[2], "slice", study.path))


def change(study: Volume, name: str, seed: int) -> Volume:
    """`blank`: air everywhere (-1000 in a CT, else 0). `seed` is not needed."""
    if name == "blank":
        voxels = np.full_like(study.voxels, AIR_HU if _is_ct(study.voxels) else 0.0)
    elif name == "mirror":
        voxels = np.ascontiguousarray(study.voxels[::-1])
    else:
        raise wrong_change("volume", name, CHANGES)
    return dataclasses.replace(study, voxels=voxels, changed=name)


def deliver(study: Volume, form: str) -> Delivered:
    """`tensor`: float32 (x, y, z); `slices`: uint8 (slices, height, width, 3) as a radiologist looks at them."""
    if form == "path":
        return as_path(study.path, study.slices, study.changed)
    if form not in FORMS:
        raise wrong_form("volume", form, FORMS)
    affine = study.affine
    if form == "slices":
        data: npt.NDArray[Any] = display(study)
    else:
        first, count = study.slices[0], len(study.slices)
        if study.slices != tuple(range(first, first + count)):
            raise BadInput(
                "form 'tensor' needs slices beside each other, from the feet up",
                where=str(study.path),
                do="select a range, or take form 'slices'",
            )
        data = np.ascontiguousarray(study.voxels[:, :, first : first + count])
        affine = affine @ np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, first], [0, 0, 0, 1]], dtype=np.float64)
    facts = {
        "spacing_mm": study.spacing_mm,
        "orientation": study.orientation,
        "affine": tuple(tuple(float(v) for v in row) for row in affine),
    }
    return Delivered(form, sealed(data), study.slices, data.shape, digest(data), facts)


def display(study: Volume, window: tuple[float, float] | None = None) -> npt.NDArray[np.uint8]:
    """Axial slices seen from the feet: the patient's right on the left, the front on top.

    `window` is (low, high) in the volume's units; by default soft tissue for a CT, else darkest to brightest.
    """
    low, high = window or _window(study.voxels)
    shown = study.voxels[::-1, ::-1, list(study.slices)].transpose(2, 1, 0)
    scaled = (shown - low) * (255 / (high - low)) if high > low else np.zeros_like(shown)
    grey = np.rint(np.clip(np.nan_to_num(scaled, nan=0.0), 0, 255)).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=-1)


def _window(voxels: npt.NDArray[np.float32]) -> tuple[float, float]:
    if _is_ct(voxels):
        return WINDOW_HU
    finite = voxels[np.isfinite(voxels)]
    return float(finite.min()), float(finite.max())


def _is_ct(voxels: npt.NDArray[np.float32]) -> bool:
    return bool(np.min(voxels, where=np.isfinite(voxels), initial=0.0) < _CT_BELOW)
