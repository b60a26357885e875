"""What `make` says to a newcomer, with interpreters that are scripts: nothing is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

OLD = """#!/bin/sh
case "$1" in
  --version) echo "Python 3.10.4" ;;
  -c) exit 1 ;;
  *) mkdir -p .venv/bin; touch .venv/bin/python ;;
esac
"""
NEW = """#!/bin/sh
case "$*" in
  --version) echo "Python 3.12.1" ;;
  "-m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
  *requirements.lock) {pip} ;;
esac
"""
PIP = "for name in $(seq 25); do echo Collecting $name; echo Downloading $name; echo Using $name; done"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of what `make` reads, in which nothing is installed yet."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-test.lock"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def script(path: Path, text: str) -> Path:
    """An executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def make(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run `make` there, as from a shell, whatever `make` runs this test."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(
        command, cwd=folder, env=inherited, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("target", ["run", "test", "try-streamlit"])
def test_an_old_python(folder: Path, target: str) -> None:
    """A Python that is too old is refused with its version before anything is made or downloaded."""
    old = script(folder / "python3.10", OLD)
    answer = make(folder, f"PYTHON={old}", target)
    assert answer.returncode != 0
    assert f"Tranche needs Python 3.11 or later; {old} is Python 3.10.4." in answer.stderr
    assert "Downloading" not in answer.stdout
    assert not (folder / ".venv").exists()


def test_an_environment_of_an_old_python(folder: Path) -> None:
    """An environment that an older Python left behind is named, with what to do; nothing is downloaded."""
    script(folder / ".venv/bin/python", OLD)
    (folder / ".venv/made").touch()
    answer = make(folder, "run")
    assert answer.returncode != 0
    assert ".venv/bin/python is Python 3.10.4. Remove .venv and run make again." in answer.stderr
    assert "Downloading" not in answer.stdout


def test_installing_is_a_line_for_ten_packages(folder: Path) -> None:
    """What pip writes becomes a count, and the environment is marked as installed."""
    new = script(folder / "python3.12", NEW.format(pip=PIP))
    answer = make(folder, f"PYTHON={new}", ".venv/installed")
    assert answer.returncode == 0, answer.stderr
    total = sum("==" in line for line in (ROOT / "requirements.lock").read_text().splitlines())
    assert f"10 of {total}\n  20 of {total}\n" in answer.stdout
    assert "Collecting" not in answer.stdout
    assert (folder / ".venv/installed").exists()


def test_installing_that_fails(folder: Path) -> None:
    """Where pip fails, `make` fails with pip's own words, and the next run installs again."""
    new = script(folder / "python3.12", NEW.format(pip="echo 'ERROR: no network' >&2; exit 1"))
    answer = make(folder, f"PYTHON={new}", ".venv/installed")
    assert answer.returncode != 0
    assert "ERROR: no network" in answer.stderr
    assert not (folder / ".venv/installed").exists()


@pytest.mark.parametrize("name", ["test_ohter.py", "test_other.py::test_misspelled"])
def test_a_misspelled_test(folder: Path, name: str) -> None:
    """`make test TESTS=…` with a file or test that isn't there names it, and fails."""
    script(folder / ".venv/bin/python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (folder / "test_other.py").write_text("def test_other(): pass\n")
    for file in ("made", "installed", "installed-for-tests"):
        (folder / ".venv" / file).touch()
    answer = make(folder, "test", "WORKERS=1", f"TESTS={name}")
    assert answer.returncode != 0
    assert f"{name}\n" in answer.stdout + answer.stderr


def test_make_run_starts_the_desk_itself(folder: Path) -> None:
    """`make run` makes the demo without telling how to start the desk, then starts it."""
    for command in ("python", "tranche"):
        script(folder / ".venv/bin" / command, f'#!/bin/sh\necho {command} "$@"\n')
    for file in ("made", "installed"):
        (folder / ".venv" / file).touch()
    answer = make(folder, "run", "TRANCHE_HOME=home")
    assert answer.stdout == "tranche demo --brief\npython app.py\n"
