"""Whether a text refuses to answer; an option that stands beside a refusal is not an answer but a guess.

To look for a sign in vain (`I cannot see any P waves`) or to leave another thing open (`I cannot determine the axis,
but ...`) does not refuse: only where the answer, the study as a whole or nothing at all is named is it a refusal.
"""

from __future__ import annotations

import re

_CANNOT = (
    r"(?:cannot|can ?not|can't|could not|couldn't|will not|won't|must decline to|refuse to|decline to"
    r"|(?:'m|am|are|'re|is) (?:not able|unable|not allowed|not qualified|not in a position) to)"
)
_WHOLE = (
    r"(?:it|this|that|(?:the|your|this|that|these|those|any)? ?(?:(?:\w+ ){0,2})"
    r"(?:questions?|answers?|images?|pictures?|photos?|files?|attachments?|media|stud(?:y|ies)|scans?|clips?|videos?"
    r"|volumes?|e[ck]gs?|tracings?|traces?|signals?|recordings?|request|diagnos[ei]s|medical advice))"
)
_STOPS = r"(?= *(?:$|[.,;:!?)\n-]|(?:and|but|so|as|because|since|without|from|with|for|on|based|directly|here)\b))"
_REFUSAL = re.compile(
    rf"\b(?:i|we)\b(?: (?:\w+ )?)?{_CANNOT} (?:\w+ly )?(?:"
    r"(?:answer|comply|respond|assist|help|choose|decide|commit)\b"
    r"|(?:say|tell|judge|know)"
    rf"{_STOPS}"
    r"|(?:determine|diagnose|assess|evaluate|interpret|analy[sz]e|examine|read|view|see|access|open|load|process|review"
    rf"|provide|give|offer|make|do|say|tell|judge|identify) {_WHOLE}{_STOPS})"
    rf"|\b(?:this|that|it|(?:the|this) (?:question|answer|diagnosis)) (?:cannot|can't|can not) be (?:answered"
    rf"|determined|told|assessed|decided){_STOPS}"
    r"|\b(?:cannot|can not|can't|unable to|not able to) (?:answer|comply)\b"
    r"|\b(?:i|we) (?:must |have to )?(?:refuse|decline)\b",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Whether a tidy text says somewhere that its speaker does not answer."""
    return bool(_REFUSAL.search(text))
