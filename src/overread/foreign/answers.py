"""What a worker answered, checked: a foreign script is not trusted to keep the contract."""

from __future__ import annotations

import hashlib
import math
import re
from pathlib import Path
from typing import Any, cast

from overread.foreign.request import Asked
from overread.models.contract import Answer, Seen, seen_by_tensor
from overread.tables import Json, ReplyStatus

SAID = ("text", "choice", "option_scores", "number", "spread", "blob")
FIELDS = frozenset((*SAID, "question", "status", "reason", "seen", "usage", "seconds"))
LONGEST_REASON = 500
LARGEST_BLOB = 1 << 30
LARGEST_WHOLE = 1 << 53
_BLOB = re.compile(r"blob-[0-9]+")
_HASH = re.compile(r"[0-9a-f]{24,64}")


class UnusableError(Exception):
    """An answer that breaks the contract; its text is the reason of the failed reply."""


def failed(asked: Asked, reason: str) -> Answer:
    """The failed answer to a question."""
    pending = asked.pending
    return Answer(pending.question.id, pending.seed, pending.sample, "failed", reason[:LONGEST_REASON])


def read_answer(given: dict[str, Any], asked: Asked, folder: Path) -> Answer:
    """A worker's answer as the engine takes it; what breaks the contract becomes a failed answer with its reason."""
    try:
        return _read(given, asked, folder)
    except UnusableError as error:
        return failed(asked, f"the script's answer cannot be used: {error}")


def _read(given: dict[str, Any], asked: Asked, folder: Path) -> Answer:
    unknown = sorted(set(given) - FIELDS)
    if unknown:
        raise UnusableError(f"it has fields that are not known: {', '.join(unknown)[:200]}")
    pending = asked.pending
    status = given.get("status", "answered")
    if status not in ("answered", "refused", "failed"):
        raise UnusableError("its status is none of answered, refused, failed")
    said = [name for name in SAID if given.get(name) is not None]
    if status == "answered" and not said:
        raise UnusableError("it says nothing")
    if status == "failed":
        return failed(asked, _text(given.get("reason") or "the script gave no reason", "reason"))
    return Answer(
        question=pending.question.id,
        seed=pending.seed,
        sample=pending.sample,
        status=cast("ReplyStatus", status),
        reason=_text(given.get("reason") or "", "reason")[:LONGEST_REASON],
        text=_text(given["text"], "text") if "text" in said else None,
        choice=_choice(given["choice"], len(pending.question.options)) if "choice" in said else None,
        option_scores=_scores(given["option_scores"], len(pending.question.options))
        if "option_scores" in said
        else None,
        number=_number(given["number"], "number") if "number" in said else None,
        spread=tuple(_number(v, "spread") for v in _list(given["spread"], "spread")) if "spread" in said else None,
        blob=_blob(given["blob"], folder) if "blob" in said else None,
        seen=_seen(given.get("seen"), asked),
        usage=_usage(given.get("usage")),
        seconds=max(0.0, _number(given.get("seconds") or 0.0, "seconds")),
    )


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise UnusableError(f"its {name} is no text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise UnusableError(f"its {name} is no valid Unicode") from None
    return value


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnusableError(f"its {name} is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnusableError(f"its {name} is not finite")
    return number


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnusableError(f"its {name} is no whole number")
    if abs(value) > LARGEST_WHOLE:
        raise UnusableError(f"its {name} is beyond all measure")
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise UnusableError(f"its {name} is no list")
    return value


def _choice(value: Any, options: int) -> tuple[int, ...]:
    chosen = tuple(_whole(v, "choice") for v in (value if isinstance(value, list) else [value]))
    if len(set(chosen)) < len(chosen) or not all(0 <= place < options for place in chosen):
        raise UnusableError(f"its choice names an option twice, or one that is not among the {options} options")
    return chosen


def _scores(value: Any, options: int) -> tuple[float, ...]:
    scores = tuple(_number(v, "option_scores") for v in _list(value, "option_scores"))
    if len(scores) != options:
        raise UnusableError(f"it has {len(scores)} option_scores for {options} options")
    if not all(0.0 <= score <= 1.0 for score in scores):
        raise UnusableError("its option_scores are no probabilities")
    return scores


def _blob(value: Any, folder: Path) -> bytes:
    name = value.get("file") if isinstance(value, dict) else None
    if not isinstance(name, str) or not _BLOB.fullmatch(name):
        raise UnusableError("its blob is no side file of the worker")
    path = folder / name
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_BLOB:
        raise UnusableError("its blob is missing or too large")
    data = path.read_bytes()
    path.unlink()
    if hashlib.sha256(data).hexdigest() != value.get("sha256"):
        raise UnusableError("its blob was changed after it was written")
    return data


def _usage(value: Any) -> Json:
    if value is None:
        return Json()
    if not isinstance(value, dict):
        raise UnusableError("its usage is no object")
    for name, amount in value.items():
        _text(name, "usage")
        if not isinstance(amount, str):
            _number(amount, f"usage[{name[:40]}]")
        else:
            _text(amount, "usage")
    return Json(value)


def _seen(value: Any, asked: Asked) -> tuple[Seen, ...]:
    """The receipts: `sent` where the script reports nothing, `tensor` where it reports every medium of the prompt."""
    if value is None:
        sent = asked.media.values()
        return tuple(Seen("sent", m, d.form, d.indices, d.shape, d.hash) for m, d in sent)
    fed = {}
    for entry in _list(value, "seen"):
        name = entry.get("media") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name not in asked.media or name in fed:
            raise UnusableError("its receipts name a medium twice, or one that is not in the prompt")
        fed[name] = _fed(entry, asked, name)
    missing = sorted(set(asked.media) - set(fed))
    if missing:
        raise UnusableError(f"by its receipts the model never got {', '.join(missing)[:200]}")
    return tuple(fed[name] for name in asked.media)


def _fed(entry: dict[str, Any], asked: Asked, name: str) -> Seen:
    medium, delivered = asked.media[name]
    shape = tuple(_whole(v, "receipt's shape") for v in _list(entry.get("shape"), "receipt's shape"))
    indices = tuple(_whole(v, "receipt's indices") for v in _list(entry.get("indices"), "receipt's indices"))
    tokens = None if entry.get("tokens") is None else _whole(entry["tokens"], "receipt's tokens")
    digest = _text(entry.get("hash"), "receipt's hash")
    if not _HASH.fullmatch(digest):
        raise UnusableError("its receipt's hash is no sha256")
    if 0 in shape or tokens == 0 or not _within(indices, delivered.indices, delivered.form):
        raise UnusableError(f"by its receipt of {name[:200]} nothing was fed, or positions that were not delivered")
    if digest[:24] == delivered.hash and (shape, indices) == (delivered.shape, delivered.indices):
        return seen_by_tensor(medium, delivered, tokens=tokens)
    return Seen("tensor", medium, delivered.form, indices, shape, digest[:24], tokens)


def _within(indices: tuple[int, ...], delivered: tuple[int, ...], form: str) -> bool:
    if not delivered:
        return True  # a path: the script itself decodes, nobody else knows the positions
    if form == "signal":
        return len(indices) == 2 and delivered[0] <= indices[0] < indices[1] <= delivered[1]
    return bool(indices) and set(indices) <= set(delivered)
