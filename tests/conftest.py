"""What tests share: phantoms built once a session, toys by name, and the place of real data."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest
from PIL import Image

from overread import pipeline
from overread.builders import phantoms
from overread.runs.folder import Run
from overread.settings import Settings

hypothesis.settings.register_profile("overread", deadline=None)  # shared cores: a slow moment is no failure
hypothesis.settings.load_profile("overread")

TOYS = Path(__file__).parent / "toys"
CHAT_SERVER = Path(__file__).parent / "models" / "chat_server.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on real data are skipped, by name, where there is none."""
    if os.environ.get("OVERREAD_REAL_DATA"):
        return
    for item in items:
        if item.get_closest_marker("real"):
            item.add_marker(pytest.mark.skip(reason="OVERREAD_REAL_DATA is not set"))


@pytest.fixture(scope="session")
def phantom_data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A folder of twelve made-up patients, as `data` of settings."""
    folder = tmp_path_factory.mktemp("data") / "phantoms"
    return {"phantoms": str(phantoms.build(folder, patients=12, kinds=("ecg", "echo")))}


@pytest.fixture(scope="session")
def trees() -> ModuleType:
    """Makers of small archives as their publishers lay them out; `trees.MAKERS` by alias."""
    spec = importlib.util.spec_from_file_location(
        "overread_test_trees", Path(__file__).parent / "archives" / "trees.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny_makers() -> ModuleType:
    """Makers of tiny vision-language models (`tests/models/hf/tiny.py`)."""
    spec = importlib.util.spec_from_file_location(
        "overread_test_tiny", Path(__file__).parent / "models" / "hf" / "tiny.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny(tiny_makers: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model by its maker's name, built once a session."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = tiny_makers.MAKERS[name](tmp_path_factory.mktemp("tiny") / name)
        return made[name]

    return folder


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data."""
    folder = os.environ.get("OVERREAD_REAL_DATA")
    if not folder:
        pytest.skip("OVERREAD_REAL_DATA is not set")
    return Path(folder)


@pytest.fixture
def toy() -> Callable[[str], str]:
    """The path of a toy model, by name."""
    return lambda name: str(TOYS / f"{name}.py")


@pytest.fixture
def sit(phantom_data: dict[str, str], tmp_path: Path) -> Callable[..., tuple[Run, list[str]]]:
    """Sits an exam on the phantoms: sit("ecg_steps", "chance", conditions="none", ...)."""

    def run(benchmark: str, *models: str, **more: Any) -> tuple[Run, list[str]]:
        values = {"data": phantom_data, "out": str(tmp_path / "run"), "conditions": "none", **more}
        return pipeline.run(Settings(benchmark, models, **values))

    return run


class ChatServer:
    """A running `chat_server.py`."""

    def __init__(self, *words: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, str(CHAT_SERVER), str(self.port), *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None and self.process.stdout.readline() == b"ready\n"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def spec(self, *options: str) -> str:
        return f"openai_chat[{','.join(['model=toy', f'url={self.url}', *options])}]"

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats") as reply:
            found: dict[str, Any] = json.load(reply)
        return found

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def chat_server() -> Iterator[Callable[..., ChatServer]]:
    """Starts small OpenAI-compatible servers: chat_server("--plan", ...)."""
    with contextlib.ExitStack() as stack:

        def start(*words: str) -> ChatServer:
            server = ChatServer(*words)
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture
def picture_cases(tmp_path: Path) -> Callable[..., str]:
    """A file of one's own cases: tiny pictures, each with some questions about it."""

    def make(cases: int = 4, questions: int = 3, terms: str = "open") -> str:
        folder = tmp_path / "own"
        folder.mkdir(exist_ok=True)
        lines = []
        for n in range(cases):
            Image.new("RGB", (8, 8), (n % 256, n // 256, 7)).save(folder / f"{n}.png")
            asked = [
                {"text": f"Is sign {q} there?", "options": ["Yes", "No", "Perhaps"], "answer": "Yes"}
                for q in range(questions)
            ]
            case = {"id": f"c{n}", "patient": f"p{n}", "media": [f"{n}.png"], "terms": terms, "questions": asked}
            lines.append(json.dumps(case))
        (folder / "cases.jsonl").write_text("\n".join(lines))
        return str(folder / "cases.jsonl")

    return make
