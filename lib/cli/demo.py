"""`tranche demo`: two slicers, three people, their deals and a board, to try everything on."""

import datetime as dt
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import click

from lib.cli.options import table
from lib.deals.models import DemandDeal
from lib.deals.negotiation import seat_number
from lib.demo import buyer, cast, stories
from lib.demo.cast import PASSWORD, PEOPLE, PROJECT
from lib.demo.deals import date_back, seed
from lib.demo.stage import ACTS, ROWS, build, is_invented, present
from lib.demo.supply_files import supply_files
from lib.people import People
from lib.people.tokens.access import Access
from lib.serving import connect
from lib.settings import CONFIG, Settings
from lib.slicers.warehouse import Warehouse
from lib.slicers.warehouse.slicer import StoredSlicer
from lib.views import BoardCell, BoardPart
from lib.views.share_links import SharedDeal
from lib.wire import private
from lib.wire.errors import ImportRefused, Misconfigured

FEWEST, MOST = 10_000, 3_000_000
DEMO_MODE = "# Demo mode: people with a known password, so the desk listens on loopback alone.\ndemo = true\n"


@click.command()
@click.option(
    "--rows", type=click.IntRange(FEWEST, MOST), default=ROWS, show_default=True,
    help="Rows of both slicers together.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Rebuild both slicers, so that they end today.")
@click.option("--brief", is_flag=True, help="Leave out how to start the desk, as make run starts it next.")
def demo(rows: int, force: bool, brief: bool) -> None:
    """Make the demo: two slicers that end today, their deals, and three people who may see them.

    Turns on demo mode in tranche.toml. Makes nothing where the demo is already; refuses where it would mix
    with slicers or people of yours.
    """
    settings = Settings.load(demo=True)
    warehouse, people = Warehouse(settings.warehouse), Access.of(settings).people
    # Whether the TOML file sets demo mode, as the environment can differ next time.
    config = _config_file(settings)
    if not (config.exists() and tomllib.loads(config.read_text(encoding="utf-8")).get("demo") is True):
        _refuse_to_mix(settings, warehouse, people)
        private.write(settings.home / "tranche.toml", DEMO_MODE)
    ready = present(warehouse)
    if force or len(ready) < len(ACTS):
        for slicer in ready:
            if not is_invented(slicer):
                raise ImportRefused(
                    f"The slicer {slicer.project}/{slicer.name} holds rows of your own, which the demo would "
                    "replace; import them under another name, or set TRANCHE_HOME to another folder"
                )
        ready = _make(warehouse, people, rows)
    _seed(settings, people)
    slicer_rows = [
        (f"{s.project}/{s.name}", f"{s.row_count:,}", f"{min(s.rows)} to {max(s.rows)}") for s in ready
    ]
    click.echo(table(("SLICER", "ROWS", "DAYS"), slicer_rows))
    *names, last_name = [person.username for person in PEOPLE]
    if not brief:
        click.echo(
            f"\nStart the desk (make run), open http://localhost:{settings.port} and sign in as "
            f"{', '.join(names)} or {last_name}, password {PASSWORD}."
        )
    last = min(max(slicer.rows) for slicer in ready)
    if last < _today() - dt.timedelta(days=1):
        click.echo(f"The rows end on {last}; tranche demo --force rebuilds them to end today.")


def _refuse_to_mix(settings: Settings, warehouse: Warehouse, people: People) -> None:
    """Raise ImportRefused if the public password would give access to other data."""
    ours = {(slicer.project, slicer.name) for slicer in present(warehouse) if is_invented(slicer)}
    slicers = [f"the slicer {'/'.join(name)}" for name in warehouse.slicers() if name not in ours]
    demo_people = {(person.username, person.name) for person in PEOPLE}
    others = [p.username for p in people.everyone() if (p.username, p.name) not in demo_people]
    if others_data := [*slicers, *(f"the person '{username}'" for username in others)]:
        raise ImportRefused(
            f"{settings.home} holds {others_data[0]}; the demo, whose people have a known password, needs "
            "a folder of its own: set TRANCHE_HOME to another one"
        )
    if _config_file(settings).exists():
        raise Misconfigured(f"The demo needs demo mode: write demo = true into {_config_file(settings)}")


def _config_file(settings: Settings) -> Path:
    return Path(os.environ.get(CONFIG) or settings.home / "tranche.toml")


def _seed(settings: Settings, people: People) -> None:
    """Create the deals and the board in the name of a demo person who may; nothing if there is none."""
    managers = (people.get(person.username) for person in PEOPLE if person.role != "viewer")
    person = next((person for person in managers if person and person.role != "viewer"), None)
    start = dt.datetime.now(dt.UTC)
    if person is None:
        return
    clients = connect.connect(person, settings)
    if seed(clients.deals, _today()):
        clients.supply_files.add(supply_files())
        date_back(connect.installation(settings).access.store.engine, _today(), start)
        # Enter what the buyer of a deal counts and proposes, through a share link whose key nobody has.
        if person.may_share and not clients.remote_addresses:
            name = f"{next(deal.name for deal in cast.DEALS if deal.id == stories.DOUBTED_DEAL)}, demo"
            pair = PROJECT, buyer.SLICER
            deal = clients.deals.get(DemandDeal, stories.DOUBTED_DEAL)
            shared_deal = SharedDeal(stories.DOUBTED_DEAL, seat_number(deal))
            link, _ = clients.view_store.share_links.make(*pair, name, {}, deal=shared_deal)
            buyer.enter_counts(clients.reporting, clients.deals, clients.buyer_counts, _today(), link.id)
            buyer.propose(clients.deals, clients.negotiations, clients.usual_terms, link.id)
    store = clients.view_store
    if store.boards.all():
        return
    numbers = {}
    for name, (slicer, params) in BOARD_VIEWS.items():
        same = [view for view in store.views.of(PROJECT, slicer) if view.name == name]
        view = same[0] if same else store.views.save(PROJECT, slicer, name, params, is_shared=True)
        numbers[name] = view.id
    cells = [BoardCell(numbers[name], part, width, card) for name, part, width, card in BOARD_CELLS]
    store.boards.save("Monday meeting", True, cells, {"compare": "previous"})


def _make(warehouse: Warehouse, people: People, rows: int) -> tuple[StoredSlicer, ...]:
    with click.progressbar(
        length=1000, label="Making the demo", show_eta=False, file=sys.stderr,
        item_show_func=lambda doing: doing or "",
    ) as bar:  # fmt: skip

        def show(share: float, doing: str) -> None:
            # click draws a bar on a terminal alone, and none for a step that begins without advancing it
            if not sys.stderr.isatty() and doing != bar.current_item:
                click.echo(f"{share:4.0%}  {doing}", err=True)
            bar.update(round(1000 * share) - bar.pos, doing)
            bar.render_progress()

        return build(warehouse, people, _today(), rows, show)


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


WEEK = {"start": "-7d", "end": "yesterday"}
BOARD_VIEWS: Mapping[str, tuple[str, dict[str, str]]] = {
    "Curation at a glance": ("curation", {**WEEK, "split": "deal", "cards": "deal~country~device_type~seat"}),
    "Delivery by day": ("delivery", {**WEEK, "field": "imps", "grain": "day"}),
    "Countries and devices": (
        "delivery",
        {
            **WEEK,
            "fields": "imps~ctr~payout.adv_payout",
            "top": "10",
            "split": "bid_context_wrapper.user.geo.country~bid_context_wrapper.user.agent.device.type",
        },
    ),
}
BOARD_CELLS: tuple[tuple[str, BoardPart, int, str], ...] = (
    ("Curation at a glance", "headline", 4, ""), ("Delivery by day", "chart", 2, ""),
    ("Curation at a glance", "chart", 2, ""), ("Curation at a glance", "leaderboard", 2, ""),
    ("Countries and devices", "table", 2, ""),
)  # fmt: skip
