"""A model behind a server, through whole runs: keys, limits, servers that are gone, started or broken."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overread
from overread.cli import main
from overread.errors import BadInput
from overread.models.chat_client import Trouble, _asked_to_wait, _back_off
from overread.models.chat_serving import Server

CHAT_SERVER = Path(__file__).parent / "chat_server.py"
SECRET = "sk-abcdef0123456789"

Start = Callable[..., Any]
Cases = Callable[..., str]


def sit(cases: str, model: str, out: Path, **more: Any) -> overread.Run:
    return overread.run(cases, model, out=out, conditions="none", **more)


def statuses(run: overread.Run) -> dict[str, int]:
    return dict(run.table("replies").group_by("status").len().iter_rows())


def files_with(folder: Path, text: str) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_several_questions_are_asked_at_once_and_their_receipts_hold_what_was_sent(
    chat_server: Start, picture_cases: Cases, tmp_path: Path
) -> None:
    server = chat_server("--delay", "0.1")
    run = sit(picture_cases(6, 4), server.spec("concurrency=12"), tmp_path / "run")
    assert statuses(run) == {"answered": 24} and server.stats()["most"] == 12
    receipts = run.table("receipts")
    assert receipts.height == 6 and set(receipts["level"]) == {"sent"} and receipts["hash"].is_unique().all()
    usage = json.loads(run.table("replies")["usage"][0])
    assert usage == {"model": "toy", "prompt_tokens": 200, "tokens": 5}


def test_questions_whose_history_shows_a_reply_follow_it(
    chat_server: Start, picture_cases: Cases, tmp_path: Path
) -> None:
    run = sit(picture_cases(3, 3), chat_server().spec(), tmp_path / "run", protocol="free")
    assert statuses(run) == {"answered": 9}


def test_the_key_goes_to_the_server_and_stands_nowhere(
    chat_server: Start, picture_cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    server = chat_server("--key", SECRET)
    run = sit(picture_cases(), server.spec("key=MY_KEY"), tmp_path / "run")
    assert statuses(run) == {"answered": 12} and server.stats()["keys"] == [f"Bearer {SECRET}"]
    assert files_with(tmp_path / "run", SECRET) == [] and SECRET not in " ".join(run.notes)


def test_a_key_that_a_server_repeats_in_its_answers_is_cut_out(
    chat_server: Start, picture_cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    run = sit(picture_cases(), chat_server("--plan", '{"echo": 1.0}').spec("key=MY_KEY"), tmp_path / "run")
    assert set(run.table("replies")["text"]) == {"You asked with Bearer [key]"}
    assert files_with(tmp_path / "run", SECRET) == []


def test_a_key_that_is_refused_stops_the_model_at_once_and_is_not_repeated(
    chat_server: Start, picture_cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    server = chat_server("--key", "another")
    run = sit(picture_cases(20, 5), server.spec("key=MY_KEY", "concurrency=4"), tmp_path / "run")
    assert run.table("replies").height == 0, "questions that could not be asked are missing, not failed"
    (note,) = [note for note in run.notes if "refuses every question" in note]
    assert "[key]" in note and SECRET not in note and files_with(tmp_path / "run", SECRET) == []


def test_the_key_of_openai_is_shown_to_no_other_server(
    chat_server: Start, picture_cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, SECRET)
    server = chat_server()
    sit(picture_cases(), server.spec(), tmp_path / "run")
    assert server.stats()["keys"] == ["Bearer none"]


def test_a_server_that_is_gone_is_given_up_and_the_next_run_goes_on(
    chat_server: Start, picture_cases: Cases, tmp_path: Path
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nobody = f"openai_chat[model=toy,url=http://127.0.0.1:{probe.getsockname()[1]}/v1,retries=0,concurrency=4]"
    run = sit(picture_cases(20, 5), nobody, tmp_path / "run")
    assert 49 <= run.table("replies").height < 60 and set(statuses(run)) == {"failed"}
    assert any("in a row had no reply" in note for note in run.notes)
    run = sit(picture_cases(20, 5), chat_server().spec(), tmp_path / "run")
    assert statuses(run)["answered"] == 100


def spent(run: overread.Run) -> int:
    usages = [json.loads(usage) for usage in run.table("replies")["usage"]]
    return sum(usage["prompt_tokens"] + usage["tokens"] for usage in usages)


def test_a_limit_in_tokens_holds_over_all_runs_and_leaves_the_rest_missing(
    chat_server: Start, picture_cases: Cases, tmp_path: Path
) -> None:
    def limited(tokens: int) -> overread.Run:
        model = server.spec(f"budget_tokens={tokens}", "new_tokens=20", "picture_tokens=150", "concurrency=8")
        return sit(picture_cases(10, 4), model, tmp_path / "run")

    server = chat_server()
    run = limited(3_000)
    asked = run.table("replies").height
    assert statuses(run) == {"answered": asked} and 10 <= asked < 15 and 2_000 < spent(run) <= 3_000
    (note,) = [note for note in run.notes if "the limit is reached" in note]
    assert "tokens read" in note and "goes on" in note
    assert set(run.table("scores")["coverage"]) != {1.0}
    assert limited(3_000).table("replies").height == asked, "what was spent before counts"
    more = limited(6_000)
    assert asked < more.table("replies").height < 40 and spent(more) <= 6_000
    assert statuses(limited(1_000_000)) == {"answered": 40}
    assert sum(server.stats()["done"].values()) == 40, "nothing was asked twice"


def test_a_limit_in_money_holds(chat_server: Start, picture_cases: Cases, tmp_path: Path) -> None:
    options = ("budget_money=0.01", "price_in=1", "price_out=100", "new_tokens=10", "picture_tokens=150")
    run = sit(picture_cases(10, 4), chat_server().spec(*options), tmp_path / "run")
    usages = [json.loads(usage) for usage in run.table("replies")["usage"]]
    money = sum(usage["prompt_tokens"] * 1 + usage["tokens"] * 100 for usage in usages) / 1e6
    assert 0.007 < money <= 0.01 and run.table("replies").height < 40


def test_a_limit_holds_where_the_server_counts_nothing(
    chat_server: Start, picture_cases: Cases, tmp_path: Path
) -> None:
    options = ("budget_money=0.001", "price_in=0", "price_out=100", "new_tokens=5", "concurrency=1")
    run = sit(picture_cases(10, 4), chat_server("--plan", '{"uncounted": 1.0}').spec(*options), tmp_path / "run")
    usages = [json.loads(usage) for usage in run.table("replies")["usage"]]
    assert all(usage["uncounted_tokens"] > 0 and usage["uncounted_written"] > 0 for usage in usages)
    assert 5 <= sum(usage["uncounted_written"] for usage in usages) <= 10 and len(usages) < 40


def test_what_it_will_cost_is_told_before_anything_is_asked(
    chat_server: Start, picture_cases: Cases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = chat_server().spec("price_in=2", "price_out=10", "budget_money=1")
    with pytest.raises(SystemExit):
        main(["run", picture_cases(), "--model", model, "--dry-run", "--conditions", "none"])
    told = capsys.readouterr().out
    assert "questions: 12" in told and "in pictures, about: 12000" in told and "limit in money: 1.0" in told
    run = sit(picture_cases(), model, tmp_path / "run")
    (estimate,) = next(run.workers())["estimates"].values()
    assert estimate["questions"] == 12 and estimate["tokens written, at most"] == 12 * 1024
    read = estimate["tokens read, about"]
    assert 12_000 < read < 14_000
    assert estimate["price, at most about"] == pytest.approx((read * 2 + 12 * 1024 * 10) / 1e6, abs=0.01)


def test_options_can_be_scored_by_their_probabilities(chat_server: Start, picture_cases: Cases, tmp_path: Path) -> None:
    replies = sit(picture_cases(), chat_server().spec("mode=score"), tmp_path / "run").table("replies")
    assert {tuple(round(share, 3) for share in scores) for scores in replies["option_scores"]} == {(0.665, 0.245, 0.09)}
    assert {tuple(choice) for choice in replies["choice"]} == {(0,)}


@pytest.mark.parametrize("constrain", ["json_schema", "guided_choice"])
def test_a_server_can_be_held_to_the_options(
    constrain: str, chat_server: Start, picture_cases: Cases, tmp_path: Path
) -> None:
    run = sit(picture_cases(), chat_server().spec(f"constrain={constrain}"), tmp_path / "run")
    assert run.table("replies")["choice"].is_not_null().all()
    assert set(run.table("verdicts")["status"]) == {"read"}


def test_a_study_that_cannot_be_shown_fails_alone(chat_server: Start, picture_cases: Cases, tmp_path: Path) -> None:
    cases = picture_cases(4, 2)
    (Path(cases).parent / "1.png").write_bytes(b"\x89PNG broken")
    run = sit(cases, chat_server().spec(), tmp_path / "run")
    assert statuses(run) == {"answered": 6, "failed": 2}
    (reason,) = set(run.table("replies").filter(pl.col("status") == "failed")["reason"])
    assert reason.startswith("a medium cannot be shown")


def test_a_server_is_started_once_and_ended_with_the_run(picture_cases: Cases, tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = tmp_path / "serve.py"
    program.write_text(
        f"import os, runpy, sys\nopen({str(said)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        f"runpy.run_path({str(CHAT_SERVER)!r}, run_name='__main__')\n"
    )
    model = f"openai_chat[model=toy,url=http://127.0.0.1:{{port}}/v1,serve={sys.executable} {program} {{port}}]"
    run = sit(picture_cases(8, 4), model, tmp_path / "run", set={"ask.batch": "2"})
    assert statuses(run) == {"answered": 32}
    (pid,) = map(int, said.read_text().split())
    assert ended(pid)


def ended(pid: int, seconds: float = 15.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_server_that_does_not_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    broken = Server(
        f"{sys.executable} -c 'import sys; sys.exit(\"no room on the card\")'", "http://127.0.0.1:{port}/v1"
    )
    with pytest.raises(BadInput, match="ended with code 1: no room on the card"):
        broken.wait(60)
    silent = Server(f"{sys.executable} -c 'import time; time.sleep(60)'", "http://127.0.0.1:{port}/v1")
    with pytest.raises(BadInput, match="does not answer within 1 s"):
        silent.wait(1)
    with pytest.raises(BadInput, match="cannot be run"):
        Server("no-such-program --port {port}", "http://127.0.0.1:{port}/v1")


def test_a_server_does_not_outlive_a_run_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom overread.models.chat_serving import Server\n"
        f"s = Server({f'{sys.executable} {CHAT_SERVER} {{port}}'!r}, 'http://127.0.0.1:{{port}}/v1')\n"
        "s.wait(60)\nprint(s.port, flush=True)\ntime.sleep(60)\n"
    )
    variables = {**os.environ, "TMPDIR": str(tmp_path)}
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=variables)
    assert owner.stdout is not None
    port = int(owner.stdout.readline())
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    until, gone = time.monotonic() + 15, False
    while not gone and time.monotonic() < until:
        with contextlib.closing(socket.socket()) as probe:
            gone = probe.connect_ex(("127.0.0.1", port)) != 0
        time.sleep(0.05)
    assert gone and list(tmp_path.iterdir()) == [], "nor does anything stay behind on disk"


def test_a_server_says_how_long_to_wait_in_one_of_three_ways() -> None:
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 30))
    assert _asked_to_wait({"retry-after": "2.5"}) == 2.5
    assert _asked_to_wait({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert 25 < (_asked_to_wait({"retry-after": date}) or 0) <= 30
    assert _asked_to_wait({"retry-after": "Fri, 01 Jan 99999 00:00:00 GMT"}) is None
    assert _asked_to_wait({"retry-after": "soon"}) is None and _asked_to_wait({}) is None


def test_waits_grow_and_differ_between_questions() -> None:
    waits = [_back_off(calls, "q") for calls in range(1, 12)]
    assert waits[:6] == [_back_off(calls, "q") for calls in range(1, 7)]
    assert all(0.25 * 2**n <= wait <= 0.75 * 2**n for n, wait in enumerate(waits[:6])) and max(waits) <= 90
    assert _back_off(1, "q") != _back_off(1, "p")
    assert str(Trouble("x").reason) == "x"


def test_a_server_that_never_answers_is_left_behind(chat_server: Start, picture_cases: Cases, tmp_path: Path) -> None:
    model = chat_server("--plan", '{"hang": 1.0}').spec("timeout=60")
    began = time.monotonic()
    run = sit(picture_cases(), model, tmp_path / "run", set={"ask.seconds": "0.5"})
    assert time.monotonic() - began < 25
    assert any("given up after it hung" in note for note in run.notes)
    assert set(statuses(run)) <= {"failed"}
