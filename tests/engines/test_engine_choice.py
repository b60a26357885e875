"""Which engine answers about imported rows, and who may choose it."""

from pathlib import Path

import pytest

from lib.engines import open_engine
from lib.engines.plain_pandas import PandasEngine
from lib.engines.resident import ResidentEngine
from lib.settings import Settings
from lib.wire.errors import Misconfigured


@pytest.mark.parametrize(
    ("variable", "engine"), [("pandas", PandasEngine), ("resident", ResidentEngine), ("", ResidentEngine)]
)
def test_the_environment_chooses_the_engine(
    variable: str, engine: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRANCHE_ENGINE names the engine for imported rows; an empty one leaves it to be the resident one."""
    monkeypatch.setenv("TRANCHE_ENGINE", variable)
    assert isinstance(open_engine(1), engine)


def test_a_misspelled_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another name is refused with the nearest one that there is."""
    monkeypatch.setenv("TRANCHE_ENGINE", "panda")
    with pytest.raises(Misconfigured, match="Unknown engine 'panda'; did you mean 'pandas'"):
        open_engine(1)


def test_the_engine_is_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settings file can't put the reference into production."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path))
    (tmp_path / "tranche.toml").write_text('engine = "pandas"')
    with pytest.raises(Misconfigured, match="Unknown setting 'engine'"):
        Settings.load()
