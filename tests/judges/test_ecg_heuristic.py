"""The rules of the upstream heuristic, fault by fault, for both releases; cases written by hand."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from overread.judges import ecg_heuristic, option
from overread.judges.ecg_heuristic import verdict

Replies = Callable[..., pl.DataFrame]
FURTHER = "Further findings are required to confirm the diagnosis"
FIRST, C, F, D = "initial_diagnostic_question", "criterion_selection", "finding_identification", "diagnostic_decision"
L, W, M = "lead_grounding", "wave_grounding", "measurement_grounding"
BOTH = ("0.0.1", "0.0.2")
ANSWER = "The correct answer is:"


@pytest.mark.parametrize("release", BOTH)
@pytest.mark.parametrize(
    ("stage", "key", "said", "right"),
    [
        # first question and finding: how it begins, else how it ends
        (FIRST, "Yes", "yes", True),
        (FIRST, "Yes", " Yes. ", True),
        (FIRST, "Yes", "Yes, there is a long PR interval", True),
        (FIRST, "Yes", "**Yes**", True),
        (FIRST, "Yes", "**Yes**, there is", True),
        (FIRST, "Yes", "The answer is yes", True),
        (FIRST, "Yes", "The answer is **Yes**.", True),
        (FIRST, "No", "**No**", True),
        (FIRST, "No", "No...", True),
        (FIRST, "Yes", "It is there", False),
        (FIRST, "No", "Normal sinus rhythm", True),  # `no` is only the beginning of a word
        (FIRST, "No", "Notched R waves are present", True),
        (FIRST, "No", "None", True),
        (FIRST, "Yes", "No, I mean yes", True),  # yes is looked for first, at both ends
        (FIRST, "No", "- No", True),  # how it ends
        (FIRST, "No", "*No*", False),
        (F, "Yes", "yesterday's ECG", True),
        (F, "No", "piano", True),
        (F, "Yes", "", False),
        # decision: the same, and the text of the key
        (D, FURTHER, FURTHER, True),
        (D, FURTHER, f" {FURTHER.upper()}. ", True),
        (D, FURTHER, f"**{FURTHER}**", False),
        (D, FURTHER, f"I think that {FURTHER.lower()}", False),
        (D, FURTHER, f"No. {FURTHER}", False),  # it begins with no
        (D, "No", f"No. {FURTHER}", True),
        (D, "Yes", "Yes, it can be diagnosed", True),
        (D, "Yes", FURTHER, False),
        (D, FURTHER, "Further findings are required", False),
        ("forced_commit", "No", "**No**", True),
        ("forced_commit", "Yes", FURTHER, False),
        # criterion: the whole text
        (C, "Presence of premature beats", "presence of premature beats", True),
        (C, "Presence of premature beats", "- Presence of premature beats", True),
        (C, "Presence of premature beats", " Presence of premature beats -", True),
        (C, "Presence of premature beats", " - Presence of premature beats", False),  # a space keeps the hyphen
        (C, "Presence of premature beats", "Presence of premature beats.", False),
        (C, "Presence of premature beats", "**Presence of premature beats**", False),
        (C, "Presence of premature beats", "Answer: Presence of premature beats", False),
        (C, "Prolongation of the PR interval", "Progressive prolongation of the PR interval", False),
        # segment
        (W, "[1.10s - 1.30s]", " [1.10S - 1.30s] ", True),
        (W, "[1.10s - 1.30s]", "1.10s - 1.30s", False),
        (W, "[1.10s - 1.30s]", "[1.10s - 1.30s].", False),
        (W, "3rd - 4th QRS wave", "3RD - 4th QRS wave", True),
        # measurement
        (M, "[120ms - 130ms]", "[120ms - 130ms]", True),
        (M, "[120ms - 130ms]", "120ms - 130ms", True),
        (M, "[120ms - 130ms]", "120ms - 130ms, measured in II", False),  # the comma is taken for a part of the unit
        (M, "[120ms - 130ms]", "[120ms - 130ms] because of II", False),  # so is the space
        (M, "[120ms - 130ms]", "It is [120ms - 130ms]", False),
        (M, "[120ms - 130ms]", "[120 ms - 130 ms]", False),
        (M, "[-30° - 0°]", "-30° - 0°", True),
        (M, "Above 240ms", "above 240ms", True),
        (M, "Above 240ms", "Above 240ms.", False),
        (M, "Above 240ms", "[240ms - 250ms]", False),
    ],
)
def test_a_reply_is_found_as_the_rules_say(stage: str, key: str, said: str, right: bool, release: str) -> None:
    assert verdict(stage, (key,), said, release)[1] is right


@pytest.mark.parametrize("release", BOTH)
@pytest.mark.parametrize(
    ("key", "said", "right"),
    [
        (("Lead V1", "Lead V2"), "Lead V1, Lead V2", True),
        (("Lead V1", "Lead V2"), "Leads V1 and V2", True),
        (("Lead V1", "Lead V2", "Lead V3"), "Leads V1, V2, and V3", True),
        (("Lead V1", "Lead V2"), "V2, V1", True),
        (("Lead V1", "Lead V2"), "V1 and V2", True),
        (("Lead V1", "Lead V2"), "V1; V2", True),
        (("Lead V1", "Lead V2"), "V1/V2", True),
        (("Lead V1", "Lead V2"), "V1\nV2", True),
        (("Lead V1", "Lead V2"), "- V1\n- V2", True),
        (("Lead V1", "Lead V2"), "It is seen in lead V1 and also in lead V2.", True),  # the union of all phrases
        (("Lead V1", "Lead V2"), "ads V1, V2", True),
        (("Lead V1",), "ad V1", True),
        (("Lead V1",), ":- V1 -", True),
        (("Lead V1",), "**Lead V1**", True),
        (("Lead V1",), "**V1**", False),
        (("Lead V1",), "V1.", False),
        (("Lead V1",), "Leads V1-V4", True),  # read as V1 alone
        (("Lead V1", "Lead V2", "Lead V3", "Lead V4"), "Leads V1-V4", False),
        (("Lead V1", "Lead V2"), "Lead V1", False),
        (("Lead V1",), "Lead V1, Lead V2", False),
        (("Lead I", "Lead aVL"), "leads i and avl", True),
        (("Lead II", "Lead III"), "Leads II, III", True),
        (("Lead V1", "Lead V2"), "V1; V2 and V3", False),  # the comma comes first
        (("Lead V5",), "The larger R wave is in V5", False),
    ],
)
def test_leads_are_found_as_a_set(key: tuple[str, ...], said: str, right: bool, release: str) -> None:
    assert verdict(L, key, said, release)[1] is right


@pytest.mark.parametrize(
    ("key", "said", "old", "new"),
    [
        ("Presence of premature beats", "Premature beats", True, False),
        ("Presence of a dominant S wave in leads V1 and V2", "a dominant S wave in leads V1 and V2", True, False),
        ("Presence of premature beats", "beats", False, False),
        ("Regularity of the RR intervals", "RR intervals", False, False),
        ("R wave amplitude in lead aVL > 1.1mV", f"{ANSWER} R wave amplitude in lead aVL > 1.1mV", True, False),
        ("R wave amplitude in V1 > 1.5mV", f"{ANSWER} R wave amplitude in V1 > 1.5mV", False, False),
    ],
)  # fmt: skip
def test_the_releases_differ_in_which_criteria_they_take(key: str, said: str, old: bool, new: bool) -> None:
    assert (verdict(C, (key,), said, "0.0.1")[1], verdict(C, (key,), said, "0.0.2")[1]) == (old, new)


def test_every_offered_option_is_right_word_for_word(replies: Replies) -> None:
    cases = {
        FIRST: (["Yes", "No"], ["No"]),
        D: (["Yes", "No", FURTHER], [FURTHER]),
        M: (["Above 240ms", "[1ms - 2ms]"], ["[1ms - 2ms]"]),
        L: (["Lead I", "Lead II", "Lead V1"], ["Lead I", "Lead V1"]),
        W: (["[1.10s - 1.30s]", "1st - 2nd QRS wave"], ["1st - 2nd QRS wave"]),
    }
    rows = [
        {
            "stage": stage,
            "options": options,
            "answer": answer,
            "many": stage == L,
            "choice": [options.index(text) for text in answer],
        }
        for stage, (options, answer) in cases.items()
    ]
    for release in BOTH:
        assert ecg_heuristic.judge(replies(*rows), release)["correct"].to_list() == [True] * len(rows)


def test_a_guess_is_worth_its_expectation_also_where_several_are_right(replies: Replies) -> None:
    two = ["Lead I", "Lead II"]
    leads = {"stage": L, "options": two, "answer": ["Lead I"], "many": True, "option_scores": [0.5, 0.5]}
    three = {"stage": D, "options": ["Yes", "No", FURTHER], "answer": [FURTHER], "option_scores": [1 / 3] * 3}
    found = ecg_heuristic.judge(replies(leads, three))
    assert found["status"].to_list() == ["expected"] * 2
    assert found["credit"].to_list() == pytest.approx([0.25, 1 / 3])


def test_the_fair_judge_takes_what_the_rules_do_not(replies: Replies) -> None:
    beats = ["Premature beats", "Low voltage"]
    rows = [
        {"stage": C, "options": beats, "answer": beats[:1], "text": "- **Premature beats**."},
        {"stage": D, "options": ["Yes", "No", FURTHER], "answer": [FURTHER], "text": f"**{FURTHER}**"},
    ]
    table = replies(*rows)
    assert option.judge(table)["correct"].to_list() == [True, True]
    assert ecg_heuristic.judge(table)["correct"].to_list() == [False, False]
