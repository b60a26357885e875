"""Settings: where they come from, which wins, and what is said of a wrong one."""

import re
import runpy
from pathlib import Path

import pytest

from lib.settings import SETTINGS, Settings
from lib.wire.errors import Misconfigured

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and none of this machine's settings."""
    for name in SETTINGS:
        monkeypatch.delenv(f"TRANCHE_{name.upper()}", raising=False)
    monkeypatch.delenv("TRANCHE_CONFIG", raising=False)
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path))
    return tmp_path


def told(home: Path, text: str) -> None:
    """Write the settings file."""
    (home / "tranche.toml").write_text(text)


def test_defaults(home: Path) -> None:
    """Without being told anything, a desk listens on loopback and keeps everything in its home."""
    settings = Settings.load()
    assert (settings.host, settings.port, settings.demo) == ("127.0.0.1", 8501, False)
    assert settings.database_url == f"sqlite:///{home}/tranche.db"
    assert settings.warehouse == home / "warehouse"
    assert settings.services == {"reporting": "reporting", "deals": "deals"}


def test_home_defaults_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home is `.tranche` where the process was started, and stays there when it changes folder."""
    monkeypatch.delenv("TRANCHE_HOME")
    monkeypatch.chdir(tmp_path)
    assert Settings.load().home == tmp_path / ".tranche"


def test_order_of_sources(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option wins over the environment, which wins over the file, which wins over the default."""
    told(home, "port = 1111\ndeadline_seconds = 5\nquery_threads = 3")
    monkeypatch.setenv("TRANCHE_PORT", "2222")
    monkeypatch.setenv("TRANCHE_DEADLINE_SECONDS", "6.5")
    monkeypatch.setenv("TRANCHE_HOST", "")
    settings = Settings.load(port=3333)
    assert (settings.port, settings.deadline_seconds, settings.query_threads) == (3333, 6.5, 3)
    assert settings.host == "127.0.0.1", "an empty variable counts as not set"


def test_named_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRANCHE_CONFIG names another file, which may say where the home is."""
    monkeypatch.delenv("TRANCHE_HOME")
    other = tmp_path / "other.toml"
    other.write_text(f'home = "{tmp_path}/elsewhere"')
    monkeypatch.setenv("TRANCHE_CONFIG", str(other))
    assert Settings.load().database_url == f"sqlite:///{tmp_path}/elsewhere/tranche.db"


def test_named_file_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that TRANCHE_CONFIG names has to be there."""
    monkeypatch.setenv("TRANCHE_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(
        Misconfigured, match=r"TRANCHE_CONFIG names the file .*none\.toml, which does not exist"
    ):
        Settings.load()


def test_misspelled_name(home: Path) -> None:
    """A misspelled setting in the file is refused, with the right name and the file's."""
    told(home, "prot = 80")
    with pytest.raises(Misconfigured, match=r"tranche\.toml: Unknown setting 'prot'; did you mean 'port'\?"):
        Settings.load()


def test_misspelled_variable(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A variable that is nearly a setting is ignored with a warning, in the words of the file's refusal."""
    monkeypatch.setenv("TRANCHE_PROT", "8")
    assert Settings.load().port == 8501
    assert caplog.messages == ["TRANCHE_PROT is ignored: Unknown setting 'prot'; did you mean 'port'?"]


def test_variables_that_are_no_misspelled_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """No variable that code, documents or a connection name is taken for a misspelled setting."""
    told(home, "[connections.ours]\nurl = 'postgresql://reader:${TRANCHE_DATABASE_URI}@localhost/rows'\n")
    (home / "tranche.toml").chmod(0o600)
    monkeypatch.setenv("TRANCHE_DATABASE_URI", "hidden")
    files = [
        ROOT / "app.py",
        *(ROOT / "lib").rglob("*.py"),
        *DOCS.rglob("*.md"),
        *(ROOT / "tests").rglob("*.py"),
    ]
    names = {name for file in files for name in re.findall(r"TRANCHE_[A-Z_]*[A-Z]", file.read_text("utf-8"))}
    settings = {f"TRANCHE_{name.upper()}" for name in SETTINGS}
    others = names - settings - {"TRANCHE_PROT", "TRANCHE_CONFIG"}
    assert {"TRANCHE_ENGINE", "TRANCHE_TOKEN", "TRANCHE_TEST_DATA"} <= others
    for name in others:
        monkeypatch.setenv(name, "anything")
    Settings.load()
    assert not caplog.messages


def test_not_toml(home: Path) -> None:
    """A file that is no TOML is refused, with the line."""
    told(home, "port = 1\nhost = nowhere")
    with pytest.raises(Misconfigured, match=r"tranche\.toml can't be read as TOML: .*line 2"):
        Settings.load()


def test_toml_that_is_nested_too_deeply(home: Path) -> None:
    """A file of 20,000 levels is refused in a sentence."""
    told(home, f"host = {'[' * 20_000}")
    with pytest.raises(Misconfigured, match=r"tranche\.toml can't be read as TOML: nested too deeply"):
        Settings.load()


def test_wrong_values_name_their_source(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wrong value is named with the place that it came from."""
    told(home, "token_seconds = 1")
    monkeypatch.setenv("TRANCHE_DEADLINE_SECONDS", "soon")
    with pytest.raises(Misconfigured) as caught:
        Settings.load(port=0)
    reason = caught.value.reason
    assert re.search(r"Setting token_seconds \(in .*tranche\.toml\): must be at least 60", reason)
    assert re.search(r"Setting deadline_seconds \(from TRANCHE_DEADLINE_SECONDS\): must be a number", reason)
    assert re.search(r"Setting port \(given as an option\): must be at least 1", reason)


@pytest.mark.parametrize(("name", "value"), [("PORT", "abc"), ("QUERY_THREADS", "0")])
def test_a_wrong_value_is_one_sentence(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """One wrong value is one sentence: a default that is made of it adds none."""
    monkeypatch.setenv(f"TRANCHE_{name}", value)
    with pytest.raises(Misconfigured) as caught:
        Settings.load()
    assert str(caught.value).startswith(f"Setting {name.lower()} (from TRANCHE_{name}): ")
    assert "\n" not in str(caught.value)


def test_database_url_is_not_shown(home: Path) -> None:
    """A database's password stays out of what is printed of the settings."""
    told(home, 'database_url = "postgresql://tranche:hidden@localhost/tranche"')
    assert "hidden" not in repr(Settings.load())
    told(home, 'database_url = ["hidden"]')
    with pytest.raises(Misconfigured) as caught:
        Settings.load()
    assert "hidden" not in caught.value.reason


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "example.org"])  # noqa: S104
def test_demo_with_remote_services(host: str) -> None:
    """Demo mode refuses every address but loopback."""
    with pytest.raises(Misconfigured, match=r"demo mode .* listens only on a loopback address"):
        Settings.load(demo=True, host=host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_demo_on_loopback(host: str) -> None:
    """Demo mode listens on any loopback address."""
    assert Settings.load(demo=True, host=host).host == host


def test_services_differ() -> None:
    """One identifier for both services would let a reporting token change deals."""
    with pytest.raises(Misconfigured, match="must differ"):
        Settings.load(deals_service="reporting")


def test_the_documents_have_the_tables() -> None:
    """The tables of docs/settings.md are those of the settings; `python docs/settings.py` renews it."""
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in SETTINGS)
    assert page == runpy.run_path(str(DOCS / "settings.py"))["page"]()


def test_every_setting_has_its_sentence() -> None:
    """Each setting is described by a sentence of its own."""
    for name, field in SETTINGS.items():
        assert field.description, name
        assert field.description.endswith("."), name


def test_origins(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the environment they are separated by commas, or a list of JSON; each is scheme and host alone."""
    for text in (
        "https://desk.example,https://desk.example:8443",
        '["https://desk.example", "https://desk.example:8443"]',
    ):
        monkeypatch.setenv("TRANCHE_ORIGINS", text)
        assert Settings.load().origins == ("https://desk.example", "https://desk.example:8443")
    monkeypatch.setenv("TRANCHE_ORIGINS", '["https://desk.example"')
    with pytest.raises(Misconfigured, match=r"TRANCHE_ORIGINS.*JSON"):
        Settings.load()
    monkeypatch.setenv("TRANCHE_ORIGINS", "https://desk.example/desk")
    with pytest.raises(Misconfigured, match="nothing after it"):
        Settings.load()


@pytest.mark.parametrize("name", ["port", "deadline_seconds", "query_threads", "session_hours"])
def test_a_switch_is_no_number(home: Path, name: str) -> None:
    """`port = true` is refused, and not read as 1; a switch takes true and false as before."""
    told(home, "demo = true")
    assert Settings.load().demo is True
    told(home, f"{name} = true")
    with pytest.raises(Misconfigured, match=f"Setting {name} .*: must be a number, not true"):
        Settings.load()
