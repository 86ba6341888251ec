"""How near the asking of a server comes to a bare loop of the same client, 1,000 requests being under way at once.

    python bench/api.py [--questions 6000] [--together 1000] [--delay 0.05] [--rounds 3] [--json FILE]

A small server of this machine, in a process of its own, answers every request after 50 ms. Two bare
sides send bodies made beforehand and do nothing with what comes: `bare` is an asyncio loop over the official SDK as its
documentation shows it (`chat.completions.create`, one client), `lean` the same loop over the very client and
connections that `openai_chat` uses. Our side is the asking of a whole exam, from the compiled run folder to replies and
receipts on disk. All send the same bodies, a small picture in each, and ask a little beforehand; each round measures
all, one after the other, each in a process of its own. About two minutes on two cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sides import call, say

HERE = Path(__file__).resolve().parent
SERVER = HERE.parent / "tests" / "models" / "chat_server.py"
PORT = 18_431
QUESTIONS_A_CASE = 10
TARGET = 0.8


def spec(together: int) -> str:
    return f"openai_chat[model=toy,url=http://127.0.0.1:{PORT}/v1,concurrency={together},new_tokens=16]"


def cases(folder: Path, questions: int) -> Path:
    """A file of cases with small pictures, each with some questions."""
    import numpy as np
    from PIL import Image

    lines = []
    for n in range(questions // QUESTIONS_A_CASE):
        noise = np.random.default_rng(n).integers(0, 256, (32, 32, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"{n}.png")
        asked = [
            {"text": f"Is sign {q} there?", "options": ["Yes", "No"], "answer": "Yes"} for q in range(QUESTIONS_A_CASE)
        ]
        lines.append(json.dumps({"id": f"c{n}", "patient": f"p{n}", "media": [f"{n}.png"], "questions": asked}))
    (folder / "cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "cases.jsonl"


def settings_of(file: Path, run: Path, together: int) -> Any:
    from overread.settings import Settings

    return Settings(str(file), (spec(together),), conditions="none", out=str(run)).checked()


def ours(file: Path, together: int) -> dict[str, float]:
    """Asks the exam, twice: a small one first."""
    from overread import pipeline

    warm = cases(Path(tempfile.mkdtemp()), QUESTIONS_A_CASE)
    seconds = 0.0
    for one in (warm, file):
        settings = settings_of(one, one.parent / "run", together)
        made = pipeline.compile_exam(settings)
        began, processor = time.perf_counter(), time.process_time()
        pipeline.ask(made, settings)
        seconds, processor = time.perf_counter() - began, time.process_time() - processor
    replies = made.table("replies")
    assert set(replies["status"]) == {"answered"}
    return {"seconds": seconds, "processor": processor, "questions": replies.height}


def bare(file: Path, together: int) -> dict[str, float]:
    """Sends the same bodies in a loop over the SDK as its documentation shows it."""
    import httpx2

    limits = httpx2.Limits(max_connections=together, max_keepalive_connections=together)
    return loop(file, together, {"trust_env": False, "limits": limits}, plain=True)


def lean(file: Path, together: int) -> dict[str, float]:
    """The same with the requests and connections that our side uses."""
    from overread.models.chat_connections import connections

    return loop(file, together, connections(together, proxies=False), plain=False)


def loop(file: Path, together: int, web_settings: dict[str, Any], *, plain: bool) -> dict[str, float]:
    import httpx2
    import openai

    from overread.models.chat_client import PATH

    bodies = bodies_of(file, together)

    async def run() -> tuple[float, float]:
        web = openai.DefaultAsyncHttpxClient(**web_settings)
        sdk = openai.AsyncOpenAI(
            api_key="none", base_url=f"http://127.0.0.1:{PORT}/v1", max_retries=0, timeout=120, http_client=web
        )

        async def some(left: Any) -> None:
            for body in left:
                if plain:
                    await sdk.chat.completions.with_raw_response.create(**body)
                else:
                    await sdk.post(PATH, cast_to=httpx2.Response, body=body)

        async def all_of(wanted: list[Any]) -> None:
            left = iter(wanted)
            await asyncio.gather(*(some(left) for _ in range(together)))

        await all_of(bodies[:QUESTIONS_A_CASE])
        began, processor = time.perf_counter(), time.process_time()
        await all_of(bodies)
        took = time.perf_counter() - began, time.process_time() - processor
        await sdk.close()
        return took

    seconds, processor = asyncio.run(run())
    return {"seconds": seconds, "processor": processor, "questions": len(bodies)}


def bodies_of(file: Path, together: int) -> list[dict[str, Any]]:
    """The bodies that our side sends."""
    from overread import pipeline
    from overread.engines.candidates import parse_model
    from overread.engines.posing import Poser, group
    from overread.media.reader import MediaReader
    from overread.models.chat_options import read_options
    from overread.models.chat_pictures import sent
    from overread.models.chat_prompts import body_of
    from overread.models.openai_chat import FORMS

    settings = settings_of(file, file.parent / "bodies", together)
    made = pipeline.compile_exam(settings)
    tables = {table: made.table(table) for table in ("dialogues", "questions", "key")}
    wanted = group(
        [(dialogue, question, 0, 0) for dialogue, question in tables["questions"]["dialogue", "id"].iter_rows()]
    )
    poser = Poser.of_part(tables, wanted)
    options = read_options(parse_model(spec(together))[1].options, "")
    bodies = []
    with MediaReader(pipeline.find_roots(settings.data), FORMS) as reader:
        for one in wanted:
            posed = poser.pose(one, {}, "", reader.look)
            for pending in posed.questions:
                prompt = posed.prompt(pending)
                shown = {
                    m: sent(m, reader.look(m), frames="images", detail="") for message in prompt for m in message.media
                }
                bodies.append(body_of(prompt, shown, pending, options))
    return bodies


def compare(arguments: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, list[dict[str, float]]] = {"bare": [], "lean": [], "ours": []}
    server = subprocess.Popen(
        [sys.executable, SERVER, str(PORT), "--delay", str(arguments.delay)], stdout=subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        server.stdout.readline()
        for turn in range(arguments.rounds):
            for side in list(found) if turn % 2 == 0 else reversed(found):
                with tempfile.TemporaryDirectory() as folder:
                    file = cases(Path(folder), arguments.questions)
                    words = [sys.executable, HERE / "api.py", "--side", side, "--file", file]
                    found[side].append(call([*words, "--together", str(arguments.together)]))
                say(f"round {turn + 1}: {side} {found[side][-1]}")
    finally:
        server.kill()
        server.wait()
    rate = {side: [one["questions"] / one["seconds"] for one in some] for side, some in found.items()}
    work = {side: [one["processor"] / one["questions"] for one in some] for side, some in found.items()}
    wall = {side: statistics.median(some) for side, some in rate.items()}
    processor = {side: statistics.median(some) for side, some in work.items()}
    return {
        **{f"questions a second, {side}": round(one) for side, one in wall.items()},
        **{f"ratio to {side}, wall": round(wall["ours"] / wall[side], 3) for side in ("bare", "lean")},
        **{f"ratio to {side}, processor": round(processor[side] / processor["ours"], 3) for side in ("bare", "lean")},
        "target": TARGET,
        "machine": platform.machine(),
        "rounds": found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=6_000)
    parser.add_argument("--together", type=int, default=1_000)
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--side", choices=("bare", "lean", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        print(
            json.dumps({"bare": bare, "lean": lean, "ours": ours}[arguments.side](arguments.file, arguments.together))
        )
        return
    found = compare(arguments)
    for name, value in found.items():
        if name != "rounds":
            print(f"{name}: {value}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
