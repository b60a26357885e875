"""Checks of services, step by step, for `tranche check` and the screen Services."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

from lib.engines import ConnectedSlicers
from lib.serving.check import deals, reporting
from lib.serving.check.step import Step, timer
from lib.serving.connect.opening import SECONDS, SIGN_IN, WEBHOOK, Check, ConnectionChecks, address_checks
from lib.serving.mail_server import MailServer
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.wire import time_zones
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest, TrancheError
from lib.wire.time_zones import ZoneData

__all__ = ["Step", "check"]
CONNECTIONS, MAIL, TIME_ZONES = "Databases", "Mail", "Time zones"
OLD_ZONES = "It is over four months old: update Tranche, or the package tzdata in its environment."
MAIL_REMEDY = "Check smtp_host, smtp_port, smtp_security, smtp_username and smtp_password."
MISFIT = "Connect it again with tranche connect --replace, or remove it with tranche slicer remove."
SILENCE = "Try again; the database's log, and that of tranche, may say why it failed."
NAMES = {SIGN_IN: "Sign-in", WEBHOOK: "Alerts"}
REMEDIES = {
    SIGN_IN: "Check issuer in [oidc], and whether a firewall or a proxy is between.",
    WEBHOOK: "Check the host in alerts_webhook, and whether a firewall or a proxy is between.",
}

RECEIVERS = "Check the host in [deal_sync_receivers], and whether a firewall or a proxy is between."


def check(settings: Settings) -> Iterator[Step]:
    """Try every service and database as the settings describe it, with
    connections of its own; each step once it is known.

    Nothing is changed anywhere, but that a temporary token may be asked for.
    """
    yield time_zone_data(time_zones.data(), datetime.now(UTC).date())
    yield from reporting.steps(settings)
    yield from deals.steps(settings)
    yield from dependencies(settings)


def time_zone_data(data: ZoneData, today: date) -> Step:
    """Which data of time zones clocks are read from, what else there is, and whether it is old.

    Databases of connections compute no clocks: questions in a named zone are asked there by hours of UTC.
    """
    copies = {"the package tzdata": time_zones.package(), "this system": time_zones.system()}
    parts = [f"{name} has {copy.version}" for name, copy in copies.items() if copy is not None]
    result = f"Version {data.version} is used: {', '.join(parts)}."
    if data.is_old(today):
        return Step(TIME_ZONES, "Data", "note", result, OLD_ZONES)
    return Step(TIME_ZONES, "Data", "ok", result)


def dependencies(settings: Settings) -> Iterator[Step]:
    """The steps of mail, databases and addresses: none depends on another."""
    yield from _connections(settings)
    for name, check in address_checks(settings).items():
        title, remedy = name[0].upper() + name[1:], REMEDIES.get(name, RECEIVERS)
        yield _step(NAMES.get(name, "Deal sync"), title, check, remedy)
    server = MailServer(settings)
    if server.is_set:
        yield _step(MAIL, "Mail server", lambda _: server.check(), MAIL_REMEDY)


def _connections(settings: Settings) -> Iterator[Step]:
    """Every connection, then every connected slicer, whether its connection answers or not."""
    connected = ConnectedSlicers(settings.connection_urls)
    warehouse = Warehouse(settings.warehouse)
    checks = ConnectionChecks(settings, warehouse, connected)
    broken = set()
    for name, check in checks.connections().items():
        step = _step(CONNECTIONS, name, check, f"Check [connections.{name}] in the settings.")
        broken |= set() if step.is_good else {name}
        yield step
    for pair, (source, check) in checks.slicers().items():
        name = "/".join(pair)
        if source.connection in broken:
            yield Step(CONNECTIONS, name, "failed", f"Its connection {source.connection} can't be used.")
            continue
        try:
            check(Deadline(SECONDS))
        except TrancheError as error:
            # what did not answer may be whole: only a table that was read and does not fit calls for a change
            remedy = MISFIT if isinstance(error, BadRequest) else SILENCE
            yield Step(CONNECTIONS, name, "failed", error.sentence, remedy)
        else:
            yield Step(CONNECTIONS, name, "ok", f"{source.table} has its columns.")


def _step(service: str, what: str, check: Check, remedy: str) -> Step:
    try:
        with timer() as took:
            check(Deadline(SECONDS))
    except TrancheError as error:
        return Step(service, what, "failed", error.sentence, remedy)
    return Step(service, what, "ok", f"Answers {took()}.")
