"""Checks that a model got what the dialogue attached, and turns what it says of that into receipts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from overread.media.contract import Delivered
from overread.models.contract import Answer, Look, Pending, Posed, Seen
from overread.tables import Media, Receipt, content_id

REMEMBERED = 1024


class Witness:
    """Hands the media of one dialogue over and remembers what was handed over, to hold receipts against it."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._shown: list[tuple[int, Media]] | None = None
        self.given: dict[Media, Delivered] = {}

    def shown(self, posed: Posed) -> list[tuple[int, Media]]:
        """The media of the dialogue's script, each with its message; a script is looked through once."""
        if self._shown is None:
            self._shown = [(n, medium) for n, message in enumerate(posed.script) for medium in message.media]
        return self._shown

    def __call__(self, media: Media) -> Delivered:
        """The medium in the model's form."""
        delivered = self._look(media)
        self.given[media] = delivered
        return delivered


def attached(posed: Posed, pending: Pending) -> list[Media]:
    """The media that the prompt of a question shows."""
    look = posed.look if isinstance(posed.look, Witness) else Witness(posed.look)
    return [*(medium for n, medium in look.shown(posed) if n < pending.upto), *pending.asked.media]


def fault(posed: Posed, pending: Pending, answer: Answer, given: Mapping[Media, Delivered]) -> str:
    """Why an answer cannot count, as far as its receipts tell; empty when they are in order."""
    shown = attached(posed, pending)
    seen = {(s.media.uri, s.media.select, s.media.change): s for s in answer.seen} if shown else {}
    for media in shown:
        receipt = seen.get((media.uri, media.select, media.change))
        if receipt is None or receipt.level == "none":
            return f"no receipt: nothing shows that {media.name!r} reached the model"
        if not receipt.hash:
            return f"the receipt of {media.name!r} has no hash of what reached the model"
        delivered = given.get(media)
        if receipt.level == "tensor" and delivered is None:
            return f"the receipt of {media.name!r} is of level tensor, and it was never handed over"
        if delivered is None or delivered.form == "path" or receipt.level != "tensor":
            continue  # what a model reads from a path of its own, nobody here can count
        if receipt.indices != delivered.indices:
            lost = len(set(delivered.indices) - set(receipt.indices))
            return (
                f"of {media.name!r} {len(delivered.indices)} positions were handed over and {len(receipt.indices)} "
                f"reached the model ({lost} lost): its processor drops or resamples them"
            )
    return ""


class Proof:
    """Whether different studies reach a model as different inputs; what does not is no looking.

    Only studies as they are count, each held against all before it: blank ones may well be alike, and a probe may
    change what a model is blind to.
    """

    def __init__(self) -> None:
        self._fed: dict[str, tuple[str, str]] = {}
        self._last: tuple[Seen, ...] = ()
        self.given = False
        """Two different studies have reached the model as different inputs."""

    def fault(self, answer: Answer, given: Mapping[Media, Delivered]) -> str:
        """Why an answer shows that the model does not get its studies; empty where it does not show that."""
        if answer.seen is self._last:
            return ""  # the questions of a dialogue share their receipts
        for seen in answer.seen:
            delivered = given.get(seen.media)
            if seen.level == "none" or not seen.hash or delivered is None or seen.media.change:
                continue
            study, content = self._fed.setdefault(seen.hash, (seen.media.uri, delivered.hash))
            if content != delivered.hash and study != seen.media.uri:
                return f"{study} and {seen.media.uri} differ and reached the model as the same input: it does not look"
            self.given = self.given or any(known != content for _, known in islice(self._fed.values(), 2))
        self._last = answer.seen
        return ""


class Receipts:
    """The rows of receipts; the last ones are remembered, because the questions of a dialogue share theirs."""

    def __init__(self) -> None:
        self._known: dict[Seen, Receipt] = {}

    def of(self, seen: Seen) -> Receipt:
        """The row of a receipt."""
        try:
            known = self._known.get(seen)
        except TypeError:  # a model put lists where tuples belong
            return receipt_of(seen)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[seen] = receipt_of(seen)
        return known


def receipt_of(seen: Seen) -> Receipt:
    """The row of a receipt; equal ones have one id."""
    media = seen.media
    parts = (seen.level, media.uri, seen.form, repr(seen.indices), repr(seen.shape), seen.hash, repr(seen.tokens))
    evidence = (repr(seen.evidence),) if seen.evidence else ()
    return Receipt(
        id=content_id(*parts, media.change, *evidence),
        level=seen.level,
        media=media.uri,
        form=seen.form,
        indices=seen.indices,
        shape=seen.shape,
        hash=seen.hash,
        tokens=seen.tokens,
        change=media.change,
        evidence=seen.evidence,
    )
