"""A labelled abdominal CT whose organs are known to the voxel.

Axes are RAS+: x grows to the patient's right, y forwards, z upwards. So every `*_left` structure has a smaller mean x
than its `*_right` partner.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from overread.errors import BadInput
from overread.phantoms.draws import generator

NAMES: dict[int, str] = {
    1: "liver",
    2: "spleen",
    3: "kidney_left",
    4: "kidney_right",
    5: "aorta",
    6: "kidney_lesion",
}
HU = {"air": -1000, "fat": -100, "tissue": 45, "bone": 420}
ORGAN_HU = (0, 110, 125, 165, 165, 190, 12)
"""By label; in portal venous contrast. Lesions are cysts."""

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.uint8]
Point = tuple[float, float, float]

ORGANS: tuple[tuple[int, Point, Point], ...] = (
    (1, (82.0, 14.0, 38.0), (72.0, 70.0, 58.0)),
    (2, (-98.0, -30.0, 42.0), (30.0, 40.0, 46.0)),
    (3, (-60.0, -48.0, -18.0), (27.0, 25.0, 54.0)),
    (4, (60.0, -48.0, -36.0), (27.0, 25.0, 54.0)),
)
"""Label, centre and radii in mm of an average adult; later ones push earlier ones aside."""


@dataclasses.dataclass(frozen=True, slots=True)
class VolumePhantom:
    """A made-up volume and what is true of it."""

    voxels: npt.NDArray[np.int16]
    """HU, shape (x, y, z)."""
    labels: Labels
    """The same shape; 0 is everything that has no name in `names`."""
    names: dict[int, str]
    affine: Floats
    """From voxel indices to millimetres, 4 by 4, RAS+."""
    truth: dict[str, Any]
    """`structures`: for each name `volume_ml`, `voxels`, `centroid_mm` (x, y, z), `box` (first and last voxel on each
    axis), `truncated` (it touches the border of the volume); `lesions`: `count`, `side` (left, right or null),
    `volume_ml` of each; `shape`, `spacing_mm`, `orientation`. A kidney is counted without its lesions."""


def volume_phantom(
    seed: int, *, shape: tuple[int, int, int] = (64, 64, 48), spacing_mm: Point = (5.5, 4.5, 5.0)
) -> VolumePhantom:
    """A volume of `shape` voxels centred on the body. The anatomy does not depend on `shape` or `spacing_mm`; a field
    smaller than about 320 x 230 x 220 mm cuts it off, which the truth says."""
    if min(shape) < 8 or max(shape) > 1024 or min(spacing_mm) <= 0 or max(spacing_mm) > 20:
        raise BadInput(
            f"no volume of {shape} voxels of {spacing_mm} mm", do="give 8 to 1024 voxels a side, of 20 mm at most"
        )
    rng = generator("volume", seed)
    affine = np.diag([*spacing_mm, 1.0])
    affine[:3, 3] = [-(n - 1) / 2 * step for n, step in zip(shape, spacing_mm, strict=True)]
    grid = [affine[i, 3] + affine[i, i] * np.arange(n) for i, n in enumerate(shape)]
    place: Floats = np.stack(np.meshgrid(*grid, indexing="ij"))

    body = rng.uniform(0.92, 1.04) * np.array([158.0, 112.0])
    depth = np.hypot(place[0] / body[0], place[1] / body[1])
    labels = np.zeros(shape, dtype=np.uint8)
    radii: dict[int, Floats] = {}
    centres: dict[int, Floats] = {}
    for label, centre, size in ORGANS:
        centres[label] = np.array(centre) + rng.uniform(-6.0, 6.0, 3)
        radii[label] = np.array(size) * rng.uniform(0.86, 1.12) * rng.uniform(0.95, 1.05, 3)
        labels[(_distance(place, centres[label], radii[label], rng) <= 1) & (depth < 0.9)] = label
    bend, width = rng.uniform(-6.0, 6.0), rng.uniform(10.0, 13.0)
    labels[np.hypot(place[0] + 9.0 - bend * np.tanh(place[2] / 60.0), place[1] + 30.0) <= width] = 5
    side = int(rng.integers(3, 5))
    for lesion, radius in _lesions(rng, centres[side], radii[side]):
        near = ((place - lesion[:, None, None, None]) ** 2).sum(axis=0) <= radius**2
        labels[near & (labels == side)] = 6
    spine = np.hypot(place[0], place[1] + 66.0) < 21.0
    truth = {
        "structures": _structures(labels, affine),
        "lesions": _lesion_truth(labels, affine, NAMES[side]),
        "shape": list(shape),
        "spacing_mm": list(spacing_mm),
        "orientation": "RAS",
    }
    return VolumePhantom(_image(rng, labels, depth, spine), labels, dict(NAMES), affine, truth)


def _distance(place: Floats, centre: Floats, radii: Floats, rng: np.random.Generator) -> Floats:
    """Distance from the centre of an uneven ellipsoid whose surface lies at 1."""
    scaled = (place - centre[:, None, None, None]) / radii[:, None, None, None]
    far = np.sqrt((scaled**2).sum(axis=0))
    u, v, w = scaled / np.maximum(far, 1e-9)
    a, b, c = rng.uniform(-0.12, 0.12, 3)
    return np.asarray(far / (1.0 + a * u * v + b * v * w + c * u * w))


def _lesions(rng: np.random.Generator, kidney: Floats, radii: Floats) -> list[tuple[Floats, float]]:
    """Up to three spheres inside a kidney, far enough apart to stay apart in coarse voxels."""
    placed: list[tuple[Floats, float]] = []
    wanted = int(rng.integers(0, 4))
    for _ in range(80):
        if len(placed) == wanted:
            break
        offset, radius = rng.uniform(-1.0, 1.0, 3), float(rng.uniform(7.5, 9.5))
        centre = kidney + offset * (radii - radius) * np.array([0.4, 0.4, 0.85])
        if all(np.linalg.norm(centre - other) > radius + size + 15.0 for other, size in placed):
            placed.append((centre, radius))
    return placed


def _image(
    rng: np.random.Generator, labels: Labels, depth: Floats, spine: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int16]:
    """HU with soft edges and noise of 12 HU."""
    hu = np.where(depth < 1.0, np.where(depth < 0.92, HU["tissue"], HU["fat"]), HU["air"]).astype(np.float64)
    hu[spine & (labels == 0)] = HU["bone"]
    hu = np.where(labels > 0, np.array(ORGAN_HU)[labels], hu)
    soft = ndimage.gaussian_filter(hu, 0.5, mode="nearest") + 12.0 * rng.standard_normal(labels.shape)
    voxels: npt.NDArray[np.int16] = np.clip(np.rint(soft), -1024, 3071).astype(np.int16)
    return voxels


def _structures(labels: Labels, affine: Floats) -> dict[str, Any]:
    """What the voxels of each label amount to; a structure without voxels is left out."""
    voxel_ml = float(np.prod(np.diag(affine)[:3])) / 1000.0
    found: dict[str, Any] = {}
    for label, box in enumerate(ndimage.find_objects(labels, max_label=max(NAMES)), start=1):
        if box is None:
            continue
        inside = np.argwhere(labels[box] == label)
        first = np.array([s.start for s in box])
        last = np.array([s.stop - 1 for s in box])
        centroid = affine[:3, :3] @ (inside.mean(axis=0) + first) + affine[:3, 3]
        found[NAMES[label]] = {
            "volume_ml": round(len(inside) * voxel_ml, 4),
            "voxels": len(inside),
            "centroid_mm": centroid.round(3).tolist(),
            "box": [first.tolist(), last.tolist()],
            "truncated": bool((first == 0).any() or (last == np.array(labels.shape) - 1).any()),
        }
    return found


def _lesion_truth(labels: Labels, affine: Floats, kidney: str) -> dict[str, Any]:
    """Lesions are the connected pieces of their label, corners included."""
    pieces, count = ndimage.label(labels == 6, structure=np.ones((3, 3, 3)))
    sizes = np.bincount(pieces.ravel(), minlength=count + 1)[1:] * float(np.prod(np.diag(affine)[:3])) / 1000.0
    side = kidney.removeprefix("kidney_") if count else None
    return {"count": int(count), "side": side, "volume_ml": sizes.round(4).tolist()}
