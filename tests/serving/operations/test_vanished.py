"""A warehouse whose folder vanished, or holds a damaged manifest: who is told what."""

import logging
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lib.serving import connect
from lib.serving.check import check
from lib.serving.connect import dependents
from lib.serving.connect.opening import _open
from lib.settings import Settings


@pytest.fixture
def settings(own_home: Path) -> Settings:
    """A desk that had its slicer when its process ended."""
    demo_settings = Settings(home=own_home, demo=True)
    assert connect.installation(demo_settings).warehouse.slicers()
    return demo_settings


def api(settings: Settings) -> TestClient:
    """The APIs of a process that starts now."""
    _open.cache_clear()
    return TestClient(connect.installation(settings).api)


def info(settings: Settings, http: TestClient, slicer: str) -> tuple[int, str]:
    """The answer to info, for somebody who may see every slicer."""
    token = connect.installation(settings).access.issue("admin", "reporting", "test", None)
    fields = {"token": token, "project_name": "demo", "slicer_name": slicer}
    answer = http.post("/API/v2/info", json=fields)
    return answer.status_code, answer.text


@pytest.mark.parametrize("is_empty", [False, True], ids=["missing", "empty"])
def test_a_warehouse_that_vanished_is_no_new_one(
    settings: Settings, is_empty: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """`/readyz` says failed, the log why, the API 503, and `tranche check` the folder: after a restart too.

    A disk that is not mounted leaves its mount point, or nothing.
    """
    shutil.rmtree(settings.warehouse)
    if is_empty:
        settings.warehouse.mkdir()
    http = api(settings)
    with caplog.at_level(logging.WARNING):
        ready = http.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["parts"] == {"database": "ok", "warehouse": "failed"}
    assert "The warehouse is not ready: The folder that had 2 slicers is missing" in caplog.text
    status, body = info(settings, http, "delivery")
    assert status == 503
    assert "missing or empty" in body
    assert not [name for name in (str(settings.home), "demo/") if name in body]
    [step] = [step for step in check(settings) if not step.is_good]
    assert step.what == str(settings.warehouse)
    assert "missing or empty" in step.result
    assert "Mount" in step.remedy


def test_a_slicer_that_never_was_is_refused_as_before(settings: Settings) -> None:
    """With its folder in place, an unknown slicer is no failure of the desk."""
    status, _ = info(settings, api(settings), "nothing")
    assert status == 403


def test_a_warehouse_whose_slicers_were_removed_is_well(settings: Settings) -> None:
    """Whoever removes every slicer has an empty desk, and is ready; so is a new desk."""
    resources = connect.installation(settings)
    for pair in resources.warehouse.slicers():
        dependents.remove(resources.warehouse, resources.access, pair, "admin")
    assert not resources.warehouse.slicers()
    http = api(settings)
    assert http.get("/readyz").status_code == 200
    assert [step for step in check(settings) if not step.is_good] == []
    assert info(settings, http, "delivery")[0] == 403


def test_a_damaged_manifest_does_not_end_the_check(settings: Settings, tmp_path: Path) -> None:
    """`tranche check` names the manifest, and goes on to the deals and the databases."""
    lake = tmp_path / "lake"
    lake.mkdir()
    both = settings.model_copy(update={"connections": {"lake": {"url": f"parquet://{lake}"}}})
    both = Settings(home=settings.home, demo=True, connections=both.connections)
    manifest = next(settings.warehouse.glob("demo/delivery/manifest.json"))
    manifest.write_bytes(manifest.read_bytes()[:-100])
    steps = {step.what: step for step in check(both)}
    assert steps["demo/delivery"].state == "failed"
    assert f"{manifest} is damaged" in steps["demo/delivery"].result
    assert "lake" in steps
