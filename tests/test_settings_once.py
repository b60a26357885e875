"""A process reads its settings once: what is written into the file later takes a restart."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest
from test_desk import DESK, is_signed_in, sign_in

from lib.cli import main
from lib.serving import connect
from lib.settings import Settings


@pytest.fixture
def visit(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The manager, signed in to a desk over a data directory of one's own."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    return sign_in(AppTest.from_file(DESK, default_timeout=60).run(), "manager")


@pytest.mark.parametrize("text", ["port = ", "no_such_setting = 1", "port = 0", "base_url = 'no address'"])
def test_a_broken_file_leaves_a_running_desk_alone(visit: AppTest, own_home: Path, text: str) -> None:
    """Whatever is wrong in an edited file, the desk goes on with the settings that it started with."""
    (own_home / "tranche.toml").write_text(text)
    assert is_signed_in(visit.run())


def test_an_edited_file_opens_no_second_installation(visit: AppTest, own_home: Path) -> None:
    """One process has one installation, however often its file is edited."""
    opened = connect.opening._open.cache_info().misses
    for seconds in (20, 21):
        (own_home / "tranche.toml").write_text(f"demo = true\ndeadline_seconds = {seconds}\n")
        assert is_signed_in(visit.run())
    assert connect.opening._open.cache_info().misses == opened
    assert Settings.current() is Settings.current()


def test_a_rerun_reads_no_settings(visit: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No check of access, and nothing else in a rerun, reads the settings' file or environment."""
    reads: list[object] = []
    monkeypatch.setattr(Settings, "load", lambda **options: reads.append(options))
    assert is_signed_in(visit.run())
    assert not reads


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("demo = true\n", 0, "is good"),
        ("port = 0\n", 1, "Setting port"),
        ("prot = 8501\n", 1, "did you mean 'port'"),
        ("port = \n", 1, "can't be read as TOML"),
    ],
)
def test_check_says_whether_the_file_is_good(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int, said: str
) -> None:
    """`tranche check` reads the file as the next start of the desk will, and names what is wrong."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    (own_home / "tranche.toml").write_text(text)
    result = CliRunner().invoke(main, ["check"])
    assert result.exit_code == code
    assert said in result.output
    assert str(own_home / "tranche.toml") in result.output
