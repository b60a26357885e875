"""The files of deploy/, as far as they can be checked without Docker and a running systemd."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from documents import ROOT
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import Receive, Scope, Send

from lib.serving.operations import Meter, OpenTabs
from lib.settings import SETTINGS
from lib.wire.apis import OWN

DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
DATABASE = COMPOSE["services"]["database"]
UNIT = (DEPLOY / "tranche@.service").read_text("utf-8")


@pytest.mark.parametrize("path", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    """A setting that was renamed would be ignored without a word."""
    names = set(re.findall(r"\bTRANCHE_([A-Z_]+)", path.read_text("utf-8")))
    assert names <= {name.upper() for name in SETTINGS}


def test_the_image_has_what_runs() -> None:
    """What is copied is there and not ignored; packages come from the lock, with hashes; nobody is root."""
    copied = " ".join(re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.M)).split()
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {"requirements.lock", "pyproject.toml", "app.py", "lib", "pages", ".streamlit"} <= set(copied)
    for name in copied:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in ignored, name
    assert "--no-deps --require-hashes -r requirements.lock" in DOCKERFILE
    assert re.search(r"^USER tranche$", DOCKERFILE, re.M)
    assert re.findall(r"8501(/\w+)", DOCKERFILE)[0] in OWN


def test_only_the_desk_is_published_and_on_this_machine_alone() -> None:
    """The database is on a network without a way out; the desk's port is for a proxy beside it."""
    services = COMPOSE["services"]
    assert services["desk"]["ports"] == ["127.0.0.1:8501:8501"]
    assert "ports" not in services["database"]
    assert services["database"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert services["desk"]["cap_drop"] == ["ALL"] and services["desk"]["read_only"] is True
    used = {volume.split(":")[0] for service in services.values() for volume in service["volumes"]}
    assert used == COMPOSE["volumes"].keys()


def test_no_password_is_in_the_files() -> None:
    """Secrets come from a file that is not there; without a password the database does not start."""
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text("utf-8")))
    given = dict(
        line.split("=", 1)
        for line in (DEPLOY / "example.env").read_text("utf-8").splitlines()
        if "=" in line and not line.startswith("#")
    )
    assert asked == given.keys()
    assert not given["POSTGRES_PASSWORD"] and not given["TRANCHE_METRICS_TOKEN"]
    environment = COMPOSE["services"]["database"]["environment"]
    assert environment["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")


@pytest.mark.parametrize("image", [*re.findall(r"^ARG PYTHON=(.*)$", DOCKERFILE, re.M), DATABASE["image"]])
def test_images_are_pinned_by_digest(image: str) -> None:
    """A tag may be moved to other content; a digest names its content."""
    assert re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", image)


def test_every_image_is_the_pinned_one() -> None:
    """Each stage begins with the pinned image."""
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.M) == ["${PYTHON}"] * 2


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_container_has_limits(name: str) -> None:
    """Memory, processes and open files are limited, so that one container can't stop the machine."""
    service = COMPOSE["services"][name]
    assert service["mem_limit"] == service["memswap_limit"]
    assert service["pids_limit"] > 0
    assert service["ulimits"]["nofile"] > 0 and service["ulimits"]["core"] == 0


def test_the_unit_has_the_limits_of_the_container() -> None:
    """systemd and the compose file limit the desk alike, above what its queries may take."""
    desk = COMPOSE["services"]["desk"]
    unit = dict(line.split("=", 1) for line in UNIT.splitlines() if re.match(r"[A-Z]\w+=", line))
    gigabytes = int(re.findall(r":-(\d+)g", desk["mem_limit"])[0])
    assert unit["MemoryMax"] == f"{gigabytes}G" and unit["MemorySwapMax"] == "0"
    assert unit["TasksMax"] == str(desk["pids_limit"])
    assert unit["LimitNOFILE"] == str(desk["ulimits"]["nofile"]) and unit["LimitCORE"] == "0"
    megabytes = int(re.findall(r":-(\d+)", desk["environment"]["TRANCHE_QUESTION_MEGABYTES"])[0])
    assert f"TRANCHE_QUESTION_MEGABYTES={megabytes}" in UNIT
    assert megabytes * SETTINGS["query_threads"].default < gigabytes * 1024


@pytest.mark.parametrize("text", [DOCKERFILE, UNIT], ids=["image", "unit"])
def test_a_restore_can_replace_the_home(text: str) -> None:
    """The home is a folder in what is mounted, not the mount itself."""
    assert "TRANCHE_HOME=/var/lib/tranche/home" in text


def analyzed(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """What `systemd-analyze` says."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("NOT CHECKED: deploy/tranche@.service needs systemd-analyze")
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    """systemd finds nothing wrong with it (the program, which is not installed here, aside)."""
    context = re.sub(r"^ExecStart=.*$", "ExecStart=/bin/true", UNIT, flags=re.M)
    (tmp_path / "tranche@8501.service").write_text(context)
    ended = analyzed("verify", tmp_path / "tranche@8501.service")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_unit_is_hardened() -> None:
    """systemd rates the exposure of the unit at 2.0 of 10 at most."""
    file = DEPLOY / "tranche@.service"
    ended = analyzed("security", "--offline=true", "--threshold=20", "--no-pager", file)
    assert ended.returncode == 0, ended.stdout


def measurements(text: str) -> set[str]:
    """The measurements that expressions name."""
    return set(re.findall(r"\b(?:tranche|process)_[a-z_]+(?=\{)", text))


def test_every_measurement_of_dashboard_and_alerts_exists() -> None:
    """Each is one of `/metrics`, and described in the documents."""
    meter = Meter()
    usage = (ROOT / "lib/serving/connect/opening.py").read_text("utf-8")
    for name in re.findall(r'add_counter\("(\w+)"', usage):
        meter.add_counter(name, "", lambda: 0)
    for name in re.findall(r'add_gauge\("(\w+)"', usage):
        meter.add_gauge(name, "", lambda: 0)
    OpenTabs(not_found, meter)
    meter.note("audience", 200, 0.1, "")
    lines = text_string_to_metric_families(meter.text().decode())
    names = {sample.name for family in lines for sample in family.samples}
    for file in ("dashboard.json", "alerts.yaml"):
        assert measurements((DEPLOY / file).read_text("utf-8")) <= names, file
    documented = (ROOT / "docs/deployment.md").read_text("utf-8")
    assert {name for name in names if name.startswith("tranche_") and not name.endswith("_created")} <= {
        *re.findall(r"`(tranche_\w+)", documented),
        *(f"tranche_request_seconds_{part}" for part in ("bucket", "count", "sum")),
    }


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """An application with nothing."""


def test_the_dashboard_is_whole() -> None:
    """Every panel has an expression, a place of its own, and the data source that is chosen."""
    board = json.loads((DEPLOY / "dashboard.json").read_text("utf-8"))
    assert all(target["expr"] for panel in board["panels"] for target in panel["targets"])
    assert {panel["datasource"]["uid"] for panel in board["panels"]} == {"${source}"}
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(set(places)) == len(places) == len(set(numbers))


def test_the_alert_rules_are_whole() -> None:
    """Every rule has an expression with the job of the documents, a severity, and what to do."""
    (group,) = yaml.safe_load((DEPLOY / "alerts.yaml").read_text("utf-8"))["groups"]
    for rule in group["rules"]:
        assert 'job="tranche"' in rule["expr"], rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"].keys() == {"summary", "description"}
    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"])
