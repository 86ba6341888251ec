"""A contrastive model (a picture tower and a text tower of transformers), which scores the options as sentences

    clip[path=FOLDER,sentence=An ECG that shows {option}.]

media: ecg, clip, volume, image
licence: that of the weights
options: path, revision, dtype, device, sentence, blank, pool, sheet

Each option is written as a sentence (`{option}`, `{question}`), and scored by how near its embedding is to that of the
study, less the same on an empty study of the same shape, so that what a sentence scores by itself does not count
(`blank=keep` leaves it in). A clip is the mean over its frames, a volume over its slices (`pool=max`: the nearest one).
Contrastive models stand on a track of their own: they do not read the question, unless its words are in the sentence.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import transformers
from transformers import AutoModel, AutoProcessor

from overread.errors import BadInput, ModelFault, unknown_name
from overread.media.deliver import digest
from overread.models.asked import read_asked
from overread.models.contract import Answer, Look, Pending, Posed, Seen, Setting
from overread.models.hf_conformance import picture
from overread.models.hf_pictures import pictures
from overread.tables import Media

KINDS = ("choice", "embedding")
FORMS = {"ecg": "sheet", "clip": "frames", "volume": "slices", "image": "image"}
SAMPLES = False
BATCH = 16

PICTURES = 64
"""So many go through the tower at once."""
KNOWN = ("path", "revision", "dtype", "device", "sentence", "blank", "pool", "sheet")
CHOICES = {"blank": ("less", "keep"), "pool": ("mean", "max"), "dtype": ("float32", "bfloat16", "float16")}
SAME = 1e-4
"""Embeddings of two different pictures that are nearer than this, in cosine, are the same."""


@dataclasses.dataclass(frozen=True, slots=True)
class Study:
    """The embeddings of one medium, one a picture, and the receipt of it."""

    vectors: torch.Tensor
    """(pictures, width), each of length 1."""
    seen: Seen


class Clip:
    """Two towers that are loaded."""

    def __init__(self, setting: Setting) -> None:
        self._options = {"sentence": "{option}", "blank": "less", "pool": "mean", **setting.options}
        where = f"--model {setting.name}"
        self._model, self._processor = _loaded(setting.options, where)
        self._longest = _longest(self._model)
        self._texts: dict[str, torch.Tensor] = {}
        self._studies: dict[Media, Study] = {}
        profile = setting.options.get("sheet")
        self.forms: Mapping[str, str] = {**FORMS, "ecg": f"sheet:{profile}"} if profile else FORMS
        _check(self, where)

    def identity(self) -> Mapping[str, Any]:
        """Weights, precision, and how options become sentences and pictures one study."""
        told = {name: value for name, value in self._options.items() if name not in ("path", "device")}
        return {
            "track": "contrastive",
            "adapter": 1,
            "weights": self._options["path"].rstrip("/").rsplit("/", 1)[-1],
            "revision": getattr(self._model.config, "_commit_hash", None) or "",
            "architecture": type(self._model).__name__,
            "parameters": sum(weight.numel() for weight in self._model.parameters()),
            "precision": str(self._model.dtype),
            **told,
        }

    def provenance(self) -> Mapping[str, Any]:
        """Versions and device."""
        return {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "device": str(self._model.device),
        }

    def answer(self, dialogues: Iterable[Posed]) -> Iterator[Answer]:
        """The options of each question, scored; the embedding where that is asked for."""
        for posed in dialogues:
            self._studies.clear()
            for pending in posed.questions:
                yield self._one(posed, pending)

    def _one(self, posed: Posed, pending: Pending) -> Answer:
        slot = (pending.question.id, pending.seed, pending.sample)
        shown = list(dict.fromkeys(m for message in posed.prompt(pending) for m in message.media))
        if not shown:
            return Answer(*slot, "refused", "no study was shown, and there is nothing to compare a sentence with")
        studies = [self._study(medium, posed.look) for medium in shown]
        seen = tuple(study.seen for study in studies)
        if pending.question.kind == "embedding":
            return Answer(*slot, blob=_bytes(_mean([study.vectors for study in studies])), seen=seen)
        try:
            sentences = self._sentences([self._sentence(option, pending) for option in pending.question.options])
        except ModelFault as fault:
            return Answer(*slot, "failed", fault.what, seen=seen)
        scores = self._nearness([study.vectors for study in studies], sentences)
        if self._options["blank"] == "less":
            empty = [self._study(dataclasses.replace(medium, change="blank"), posed.look) for medium in shown]
            scores = scores - self._nearness([study.vectors for study in empty], sentences)
        return _answer(slot, scores, pending.question.many, seen)

    def _sentence(self, option: str, pending: Pending) -> str:
        found = read_asked(pending.question.asked)
        question = found[0] if found else pending.question.asked
        return self._options["sentence"].replace("{option}", option).replace("{question}", question)

    def _study(self, medium: Media, look: Look) -> Study:
        if medium not in self._studies:
            given = look(medium)
            pixels = self._pixels(pictures(given))
            seen = Seen(
                "tensor", medium, given.form, given.indices, tuple(pixels.shape), digest(pixels.float().numpy())
            )
            self._studies[medium] = Study(self._embedded(pixels), seen)
        return self._studies[medium]

    def _pixels(self, images: Sequence[Any]) -> torch.Tensor:
        made: torch.Tensor = self._processor(images=list(images), return_tensors="pt")["pixel_values"]
        return made

    def _embedded(self, pixels: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            some = pixels.to(self._model.device, self._model.dtype).split(PICTURES)
            return torch.cat([_unit(self._model.get_image_features(pixel_values=part)) for part in some])

    def _sentences(self, texts: Sequence[str]) -> torch.Tensor:
        """(texts, width); each text goes through its tower once."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._texts]
        if missing:
            tokenizer = self._processor.tokenizer
            lengths = [len(tokenizer(text)["input_ids"]) for text in missing]
            if max(lengths) > self._longest:
                cut = missing[lengths.index(max(lengths))]
                what = f"a sentence has {max(lengths)} tokens and the text tower takes {self._longest}: {cut[:80]!r}"
                raise ModelFault(what)
            padded: dict[str, Any] = {"padding": True}
            if "siglip" in self._model.config.model_type:  # trained on texts of one length
                padded = {"padding": "max_length", "max_length": self._longest}
            given = tokenizer(missing, return_tensors="pt", **padded).to(self._model.device)
            with torch.inference_mode():
                made = _unit(self._model.get_text_features(**given))
            self._texts.update(zip(missing, made, strict=True))
        return torch.stack([self._texts[text] for text in texts])

    def _nearness(self, studies: Sequence[torch.Tensor], sentences: torch.Tensor) -> torch.Tensor:
        """(options,): cosine by the model's own scale, over the pictures of each study and then over the studies."""
        scale = self._model.logit_scale.exp().float()
        found = []
        for vectors in studies:
            if self._options["pool"] == "max":
                found.append((vectors @ sentences.T).max(dim=0).values)
            else:
                found.append(sentences @ _mean([vectors]))
        return (scale * torch.stack(found).mean(dim=0)).double().cpu()

    def look_at(self, image: Any) -> torch.Tensor:
        """The embedding of one picture, of length 1."""
        return self._embedded(self._pixels([image]))[0]


def _answer(slot: tuple[str, int, int], scores: torch.Tensor, many: bool, seen: tuple[Seen, ...]) -> Answer:
    if many:
        chances = scores.sigmoid().tolist()
        chosen = tuple(place for place, value in enumerate(scores.tolist()) if value > 0)
        return Answer(*slot, choice=chosen, option_scores=tuple(chances), seen=seen)
    chances = scores.softmax(0).tolist()
    best = max(range(len(chances)), key=chances.__getitem__)
    # An empty study is as near to every sentence as itself: then nothing is chosen, and the chances are all alike.
    alike = max(chances) - min(chances) < 1e-12
    return Answer(*slot, choice=None if alike else (best,), option_scores=tuple(chances), seen=seen)


def _unit(made: Any) -> torch.Tensor:
    """Embeddings of length 1; transformers wraps them since 5.0."""
    vectors: torch.Tensor = made if isinstance(made, torch.Tensor) else made.pooler_output
    return torch.nn.functional.normalize(vectors.float(), dim=-1)


def _mean(studies: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.nn.functional.normalize(torch.stack([v.mean(dim=0) for v in studies]).mean(dim=0), dim=-1)


def _bytes(vector: torch.Tensor) -> bytes:
    """A vector as the bytes of a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, vector.cpu().numpy(), allow_pickle=False)
    return buffer.getvalue()


def _longest(model: Any) -> int:
    return int(model.config.text_config.max_position_embeddings)


def _loaded(options: Mapping[str, str], where: str) -> tuple[Any, Any]:
    source = {"revision": options["revision"]} if options.get("revision") else {}
    dtype = getattr(torch, options.get("dtype", "float32"))
    try:
        processor = AutoProcessor.from_pretrained(options["path"], **source)
        model = AutoModel.from_pretrained(options["path"], dtype=dtype, **source)
    except (OSError, ValueError, ImportError, KeyError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        do = f"check path={options['path']}; without a network, give a local folder"
        raise BadInput(f"the model cannot be loaded: {first}", where=where, do=do) from error
    towers = ("get_image_features", "get_text_features", "logit_scale")
    if not all(hasattr(model, name) for name in towers):
        what = f"{type(model).__name__} has no two towers that can be compared"
        raise BadInput(what, where=where, do="use a CLIP or SigLIP model of transformers")
    model.eval().to(options.get("device") or ("cuda" if torch.cuda.is_available() else "cpu"))
    return model, processor


def _check(model: Clip, where: str) -> None:
    """Two different pictures must come out differently, and the same one twice alike."""
    one, again, other = model.look_at(picture(1)), model.look_at(picture(1)), model.look_at(picture(2))
    if not torch.equal(one, again):
        raise BadInput("the same picture is embedded otherwise the second time", where=where, do="mend its processor")
    if float(one @ other) > 1 - SAME:
        what = "the processor ignores its media: two different pictures have the same embedding"
        raise BadInput(what, where=where, do="check that the processor belongs to these weights")


def check(setting: Setting) -> None:
    """Refuses options that are not known; weights are read when the model is loaded."""
    where = f"--model {setting.name}"
    for name, value in setting.options.items():
        if name not in KNOWN:
            raise unknown_name("option of clip", name, KNOWN, where=where)
        if name in CHOICES and value not in CHOICES[name]:
            raise BadInput(f"{name}={value} is not known", where=where, do=f"give one of {', '.join(CHOICES[name])}")
    if not setting.options.get("path"):
        raise BadInput("no weights are named", where=where, do="write clip[path=FOLDER] or clip[path=ORG/NAME]")
    if "{option}" not in setting.options.get("sentence", "{option}"):
        raise BadInput("the sentence has no place for the option", where=where, do="write {option} in sentence=")


def load(setting: Setting) -> Clip:
    """Reads the weights, and checks that pictures reach them."""
    check(setting)
    return Clip(setting)
