"""What tests share: phantoms built once a session, toys by name, and the place of real data."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest

from overread import pipeline
from overread.builders import phantoms
from overread.runs.folder import Run
from overread.settings import Settings

hypothesis.settings.register_profile("overread", deadline=None)  # shared cores: a slow moment is no failure
hypothesis.settings.load_profile("overread")

TOYS = Path(__file__).parent / "toys"


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
