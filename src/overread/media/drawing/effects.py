"""What scanners, cameras and pockets do to paper: for training images.

Every effect has a strength, and a seed settles how much of it is applied: anything up to the strength. Each effect
draws from numbers of its own, so that one can be switched on without changing what the others do.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import math
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml
from PIL import Image, ImageFilter

from overread.errors import BadInput, unknown_name
from overread.media.drawing.boxes import Affine, inverse
from overread.media.drawing.drawn import Drawn
from overread.media.drawing.settings import Paper, Sheet

Floats = npt.NDArray[np.float32]
LEAST_PX = 64
"""No picture is cut or reduced to less than this."""


@dataclasses.dataclass(frozen=True, slots=True)
class Effects:
    """Strengths; 0 switches an effect off."""

    rotation_deg: float = 0.0
    """Turned by up to so many degrees, either way; to 45."""
    crop: float = 0.0
    """Each side loses up to this share of the picture; to 0.3. Boxes may then reach beyond the picture."""
    crease: float = 0.0
    """One to three folds, as deep as this, 0 to 1."""
    noise: float = 0.0
    """Grain with a standard deviation of up to so many grey levels; to 100."""
    temperature: float = 0.0
    """Light that is warmer or colder, 0 to 1."""
    blur_px: float = 0.0
    """Out of focus by up to so many pixels; to 20."""
    shadow: float = 0.0
    """A shadow over one side, as dark as this, 0 to 1."""
    shrink: float = 0.0
    """Fewer pixels by up to this share of width and height; to 0.9."""
    jpeg: float = 0.0
    """Compressed: from quality 95 down to 15 at strength 1."""
    black_and_white: float = 0.0
    """The probability that there are no colours."""
    no_grid: float = 0.0
    """The probability that there is no grid."""

    def __post_init__(self) -> None:
        most = {"rotation_deg": 45.0, "crop": 0.3, "noise": 100.0, "blur_px": 20.0, "shrink": 0.9}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            top = most.get(field.name, 1.0)
            if not (isinstance(value, int | float) and 0 <= value <= top):
                raise BadInput(f"{field.name} is {value!r}", where="the effects", do=f"give a strength of 0 to {top:g}")


def effects_of(name: str) -> Effects:
    """Named strengths of `profiles.yaml`: scan, photo."""
    known = _named()
    if name not in known:
        raise unknown_name("set of effects", name, known)
    return Effects(**known[name])


def before(sheet: Sheet, effects: Effects, seed: int) -> Sheet:
    """The sheet that is to be drawn: the grid is left out before drawing, not taken off afterwards."""
    if not effects.no_grid or _draws("no_grid", seed).random() >= effects.no_grid:
        return sheet
    if not isinstance(sheet, Paper):
        raise BadInput("the sheet 'upstream' always has its grid", where="no_grid of the effects", do="set it to 0")
    return dataclasses.replace(sheet, grid="none")


def after(drawn: Drawn, effects: Effects, seed: int) -> Drawn:
    """The worn picture, its boxes moved along, and in `wear` what was done. Same input, same picture."""
    done: dict[str, float] = {}
    drawn = _moved(drawn, effects, seed, done)
    light = _light(drawn.image.shape, effects, seed, done)
    image = drawn.image if light is None else _rounded(drawn.image * light)
    if effects.black_and_white and _draws("black_and_white", seed).random() < effects.black_and_white:
        done["black_and_white"] = 1.0
        image = np.repeat(np.asarray(Image.fromarray(image).convert("L"))[..., None], 3, axis=2)
    if effects.blur_px:
        done["blur_px"] = effects.blur_px * float(_draws("blur_px", seed).random())
        image = np.asarray(Image.fromarray(image).filter(ImageFilter.GaussianBlur(done["blur_px"])))
    drawn = dataclasses.replace(drawn, image=image)
    if effects.shrink:
        drawn = _shrunk(drawn, effects.shrink * float(_draws("shrink", seed).random()), done)
    image = drawn.image
    if effects.noise:
        draws = _draws("noise", seed)
        done["noise"] = effects.noise * float(draws.random())
        grain = draws.standard_normal(image.shape[:2], dtype=np.float32) * np.float32(done["noise"])
        image = _rounded(image + grain[..., None])
    if effects.jpeg:
        done["jpeg"] = effects.jpeg * float(_draws("jpeg", seed).random())
        held = io.BytesIO()
        Image.fromarray(image).save(held, "JPEG", quality=round(95 - 80 * done["jpeg"]))
        image = np.asarray(Image.open(held).convert("RGB"))
    return dataclasses.replace(drawn, image=image, wear={**drawn.wear, **done})


def _moved(drawn: Drawn, effects: Effects, seed: int, done: dict[str, float]) -> Drawn:
    """Turned and cut in one go, so that pixels are mixed only once; what lay beside the paper is a dull table."""
    if not effects.rotation_deg and not effects.crop:
        return drawn
    height, width = drawn.image.shape[:2]
    done["rotation_deg"] = effects.rotation_deg * float(_draws("rotation_deg", seed).uniform(-1, 1))
    cut = effects.crop * _draws("crop", seed).random(4)
    for side, share in zip(("left", "top", "right", "bottom"), cut, strict=True):
        done[f"crop_{side}"] = float(share)
    left, top, right, bottom = (round(float(one)) for one in cut * [width, height, width, height])
    angle = math.radians(done["rotation_deg"])
    cos, sin, x, y = math.cos(angle), math.sin(angle), width / 2, height / 2
    by: Affine = (cos, -sin, x - cos * x + sin * y - left, sin, cos, y - sin * x - cos * y - top)
    size = max(width - left - right, LEAST_PX), max(height - top - bottom, LEAST_PX)
    table = tuple(int(one) for one in _draws("table", seed).integers(60, 200) + np.array([8, 0, -12]))
    picture = Image.fromarray(drawn.image)
    turned = picture.transform(
        size, Image.Transform.AFFINE, inverse(by), resample=Image.Resampling.BICUBIC, fillcolor=table
    )
    return dataclasses.replace(drawn, image=np.asarray(turned), boxes=tuple(box.moved(by) for box in drawn.boxes))


def _light(shape: tuple[int, ...], effects: Effects, seed: int, done: dict[str, float]) -> Floats | None:
    """What each pixel is multiplied with: folds, shadow, and the colour of the light."""
    light: Floats | None = None
    across = max(shape[:2])
    if effects.crease:
        draws = _draws("crease", seed)
        light = np.ones((*shape[:2], 1), dtype=np.float32)
        done["crease"] = effects.crease * float(draws.random())
        for _ in range(int(draws.integers(1, 4))):
            away = _distance(shape, draws, upright=bool(draws.integers(2)))
            fold = 0.45 * np.exp(-np.square(away / np.float32(0.0012 * across)))
            slope = 0.18 * np.sign(away) * np.exp(-np.abs(away) / np.float32(0.05 * across))
            light *= 1 - np.float32(done["crease"]) * (fold + slope)
    if effects.shadow:
        draws = _draws("shadow", seed)
        done["shadow"] = effects.shadow * float(draws.random())
        away = _distance(shape, draws, upright=bool(draws.integers(2))) / np.float32(across * draws.uniform(0.02, 0.2))
        side = np.float32(draws.choice([-1.0, 1.0]))
        dark = 1 - np.float32(0.6 * done["shadow"]) / (1 + np.exp(np.clip(side * away, -30, 30)))
        light = dark if light is None else light * dark
    if effects.temperature:
        warm = done["temperature"] = effects.temperature * float(_draws("temperature", seed).uniform(-1, 1))
        loss = (0.0, 0.08, 0.3) if warm > 0 else (0.25, 0.06, 0.0)
        tint = np.array([1 - abs(warm) * one for one in loss], dtype=np.float32)
        light = tint[None, None, :] if light is None else light * tint
    return light


def _distance(shape: tuple[int, ...], draws: np.random.Generator, *, upright: bool) -> Floats:
    """How far each pixel lies from a line drawn across the picture, signed; (height, width, 1)."""
    height, width = shape[:2]
    angle = draws.uniform(-0.12, 0.12) + (0.0 if upright else math.pi / 2)
    x, y = draws.uniform(0.15, 0.85) * width, draws.uniform(0.15, 0.85) * height
    column = ((np.arange(width) + 0.5 - x) * math.cos(angle)).astype(np.float32)
    row = ((np.arange(height) + 0.5 - y) * math.sin(angle)).astype(np.float32)
    return (row[:, None] + column[None, :])[..., None]


def _shrunk(drawn: Drawn, share: float, done: dict[str, float]) -> Drawn:
    height, width = drawn.image.shape[:2]
    size = max(LEAST_PX, round(width * (1 - share))), max(LEAST_PX, round(height * (1 - share)))
    done["shrink"] = share
    image = np.asarray(Image.fromarray(drawn.image).resize(size, Image.Resampling.LANCZOS))
    by: Affine = (size[0] / width, 0.0, 0.0, 0.0, size[1] / height, 0.0)
    boxes = tuple(box.moved(by) for box in drawn.boxes)
    return dataclasses.replace(drawn, image=image, boxes=boxes, dpi=drawn.dpi * size[0] / width)


def _draws(effect: str, seed: int) -> np.random.Generator:
    """The random numbers of one effect."""
    if not isinstance(seed, int) or seed < 0:
        raise BadInput(f"the seed is {seed!r}", where="the effects", do="give a whole number, 0 or above")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *effect.encode()])))


def _rounded(image: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    whole: npt.NDArray[np.uint8] = np.clip(np.rint(image), 0, 255).astype(np.uint8)
    return whole


@functools.cache
def _named() -> Any:
    text = (resources.files("overread.media.drawing") / "profiles.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["effects"]
