"""Both files, imported by the command line; and a client that asks about them, once per transport."""

from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from conformance.transports import TRANSPORTS

from lib.cli import main
from lib.people import Person
from lib.reporting.client import Reporting
from lib.serving import connect
from lib.settings import Settings
from real.folder import DATA, HERE

IMPORTS = {
    "wiki": ["wikiticker_sampled.ndjson.gz", "country=country_iso2.csv", "dma=dma.csv"],
    "nab": ["nab_ad_exchange.csv"],
}


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A data directory with the slicers `wiki` and `nab` of the project `real`."""
    home = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TRANCHE_HOME", str(home))
        environment.chdir(home)
        for slicer, (file, *mappings) in IMPORTS.items():
            words = ["import", str(DATA / file), "--project", "real", "--slicer", slicer]
            words += ["--definition", str(HERE / f"{slicer}.yaml"), "--max-rejects", "0"]
            for name, _, path in (mapping.partition("=") for mapping in mappings):
                words += ["--mapping", f"{name}={DATA / path}"]
            answer = CliRunner().invoke(main, words, prog_name="tranche")
            assert answer.exit_code == 0, answer.output
    return Settings(home=home)


@pytest.fixture(scope="session", params=TRANSPORTS)
def reporting(request: pytest.FixtureRequest, imported: Settings) -> Iterator[Reporting]:
    """The client of somebody who may see everything."""
    context = connect.installation(imported)
    if context.people.get("ada") is None:
        context.people.add(Person("ada", "Ada", None, "admin"), "a password")
    with TRANSPORTS[request.param](context.api) as http:
        yield Reporting(http, context.access.issue("ada", "reporting", "test", None))
