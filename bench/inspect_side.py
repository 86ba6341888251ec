"""The Inspect AI side of the first measure: one timed `eval()`, as JSON on standard output.

Run by harness.py in an environment of its own, in a process of its own. What was set and why is in README.md.
"""

from __future__ import annotations

import argparse
import base64
import gc
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

from chain import Turn, turns_of
from timing import cpu_seconds


@modelapi(name="at_once")
class AtOnce(ModelAPI):
    """Says the same at once."""

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        return ModelOutput.from_content(self.model_name, "normal")


def asked(turn: Turn) -> str:
    options = "\n".join(f"{chr(65 + n)}. {option}" for n, option in enumerate(turn.options))
    return f"{turn.text}\n{options}\nAnswer with one of the options."


@solver
def teacher_forced(image: str) -> Any:
    """Plays the turns: asks, keeps what was said, and shows the key in its place."""

    async def solve(state: Any, generate: Any) -> Any:
        model = get_model()
        said = []
        state.messages = []
        for number, turn in enumerate(turns_of(state.metadata["dialogue"])):
            text = asked(turn)
            content = [ContentImage(image=image), ContentText(text=text)] if number == 0 else text
            state.messages.append(ChatMessageUser(content=content))
            output = await model.generate(state.messages)
            said.append(output.completion)
            state.messages.append(ChatMessageAssistant(content=turn.answer))
        state.store.set("said", said)
        return state

    return solve


@scorer(metrics=[accuracy()])
def by_turn() -> Any:
    """The share of the turns in which the reply is the key."""

    async def score(state: Any, target: Any) -> Score:
        said, key = state.store.get("said"), json.loads(target.text)
        right = [a == b for a, b in zip(said, key, strict=True)]
        return Score(value=sum(right) / len(right))

    return score


def task(dialogues: int, image: str) -> Task:
    samples = [
        Sample(
            input="-",
            target=json.dumps([turn.answer for turn in turns_of(n)]),
            id=n,
            metadata={"dialogue": n},
        )
        for n in range(dialogues)
    ]
    return Task(name="chain", dataset=MemoryDataset(samples), solver=teacher_forced(image), scorer=by_turn())


def for_speed(samples: int, at_once: int) -> dict[str, Any]:
    """Everything that can be switched off while the log still holds every sample; README.md says why each."""
    return {
        "log_realtime": False,
        "log_model_api": False,
        "log_buffer": samples,
        "log_level": "error",
        "log_level_transcript": "error",
        "score_display": False,
        "max_samples": at_once,
        "log_header_only": True,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("png", type=Path)
    parser.add_argument("--dialogues", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=10, help="samples that Inspect plays at the same time")
    parser.add_argument(
        "--default", action="store_true", help="all settings as they come, save that images are not logged"
    )
    options = parser.parse_args()
    image = "data:image/png;base64," + base64.b64encode(options.png.read_bytes()).decode()
    with tempfile.TemporaryDirectory() as folder:
        timed = 0.0
        for count in (5, options.dialogues):  # the first warms up
            work = task(count, image)
            config = GenerateConfig() if options.default else GenerateConfig(max_connections=options.at_once)
            model = get_model("at_once/model", config=config)
            gc.collect()
            gc.freeze()  # what the imports and the first calls left in memory is no garbage to look through
            wall, cpu = time.perf_counter(), cpu_seconds()
            settings = {} if options.default else for_speed(count, options.at_once)
            (log,) = inspect_ai.eval(work, model=model, display="none", log_dir=folder, log_images=False, **settings)
            timed, used = time.perf_counter() - wall, cpu_seconds() - cpu
            if log.status != "success":
                raise SystemExit(f"Inspect: {log.error}")
    measured = log.results.scores[0].metrics["accuracy"].value if log.results else None
    print(json.dumps({"version": inspect_ai.__version__, "wall": timed, "cpu": used, "accuracy": measured}))


if __name__ == "__main__":
    main()
