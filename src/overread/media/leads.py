"""The names of the twelve leads: ours, and every spelling of them that files use; the one place that maps names.

What is not surely one of the twelve is none of them: `C3` is an electrode of an EEG, `-aVR` has the other sign, `V4R`
and `V7` lie elsewhere on the chest.
"""

from __future__ import annotations

import re

LEADS = ("I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6")
"""The order in which leads always come."""

_SPELLINGS = {
    **{lead.casefold(): lead for lead in LEADS},
    **{f"d{lead.casefold()}": lead for lead in LEADS[:3]},
    **{f"l{lead.casefold()}": lead for lead in LEADS[:3]},
    **{f"d{number}": lead for number, lead in enumerate(LEADS[:3], start=1)},
}
_MODIFIED = {"mli": "I", "mlii": "II", "mliii": "III"}
# A minus may join what stands before to the name (`ECG-II`); after a space it is a sign (`ECG -aVR`).
_BEFORE = re.compile(r"^(?:mdc[ _]ecg[ _]lead|(?:ecg|ekg)?[ _:.-]*lead|(?:ecg|ekg)(?=[ _:.-]|av|v\d))(?:-|[ _:.]*)")
_UNNAMED = re.compile(r"(?:(?:ecg|ekg)[ _-]?\d{0,2}|lead|signal|ch(?:annel)?[ _-]?\d{1,2})")


def lead_of(name: str) -> str | None:
    """Which of `LEADS` a name means, whatever its spelling (`AVR`, `DII`, `ECG V1`, `Lead III`); None: none surely."""
    plain = _plain(name)
    return _SPELLINGS.get(_BEFORE.sub("", plain).replace(" ", ""))


def modified_of(name: str) -> str | None:
    """The lead that a modified one (`MLII`, electrodes on the trunk) resembles; None: it is no such lead."""
    return _MODIFIED.get(_BEFORE.sub("", _plain(name)).replace(" ", ""))


def is_unnamed(name: str) -> bool:
    """Whether a name says that this is an ECG and not which lead: `ECG`, `EKG 1`, or nothing at all."""
    plain = _plain(name)
    return not plain or _UNNAMED.fullmatch(plain) is not None


def shown(names: tuple[str, ...] | list[str], most: int = 16) -> str:
    """Names from a file, fit for a message: printable, short, not too many."""
    texts = ["".join(c if c.isprintable() else "?" for c in name[:24]) or "''" for name in names[:most]]
    return ", ".join(texts) + (f" and {len(names) - most} more" if len(names) > most else "")


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())
