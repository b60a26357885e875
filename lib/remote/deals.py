"""A remote deals service: its format, its features, and the emulation of missing ones."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import Engine

from lib.deals.abilities import PLAIN, Abilities
from lib.deals.client import Deals
from lib.deals.compat import Dialect, Memory, PlainDeals, finds, has_lists, seats_of
from lib.deals.models import SupplyPackage
from lib.people import Person
from lib.remote.lines import Line
from lib.remote.some_seats import SomeSeats
from lib.settings import Settings
from lib.wire.errors import DeadlineExceeded, Forbidden, ServiceProblem

LOOKS_AGAIN_SECONDS = 300.0
NO_ACCESS = "You have no access to deals; an administrator can grant it"
MAY_NOT = "You can see deals, but not change them"
UNCONFIRMED = (
    "Deals are read-only until an administrator has checked how this service writes targeting and fees "
    "(targeting_names, fee_types), and says so in the settings (deals_mapping_confirmed)"
)


class RemoteDeals:
    """The deals service at `curate_url`: a client for each person, all over one line.

    The service knows the desk's token and not the person, so what a person may do is checked here.
    """

    def __init__(
        self, settings: Settings, line: Line, engine: Engine, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.line = line
        self._settings, self._engine, self._now = settings, engine, now
        self.dialect = Dialect.of(settings.targeting_names, settings.fee_types)
        self._service = line.http, line.credential, line.patience
        self._options: dict[str, Any] = {
            "header": settings.token_header,
            "scheme": settings.token_scheme,
            "codec": self.dialect,
            "honours_keys": settings.deals_keys,
        }
        self._lock = threading.Lock()
        self._lists: bool | None = None
        self._finds = False
        self._looked_at = 0.0

    def of(self, person: Person) -> Deals:
        """This person's client. Checks from time to time whether the service has lists: ServiceProblem."""
        if not person.deals.reads:
            raise Forbidden(NO_ACCESS)
        memory = Memory(self._engine, self.line.address, person.username)
        whole = self._whole(person, memory)
        if person.deals.seats is None:
            return whole
        return SomeSeats(whole, person.deals.seats, memory.made(SupplyPackage, person.added))

    def _whole(self, person: Person, memory: Memory) -> Deals:
        """The client for all seats."""
        if self._has_lists(memory):
            return self.client(self._abilities(Abilities(finds=self._finds, syncs=self._finds), person))
        seats, abilities = seats_of(self._settings.seats), self._abilities(PLAIN, person)
        return PlainDeals(memory, seats, *self._service, **self._options, abilities=abilities)

    def client(self, abilities: Abilities) -> Deals:
        """A client without a journal, as if the service had lists."""
        return Deals(*self._service, **self._options, abilities=abilities)

    def _abilities(self, does: Abilities, person: Person) -> Abilities:
        refuses = "" if self._settings.deals_mapping_confirmed else UNCONFIRMED
        refuses = refuses if person.deals.writes else MAY_NOT
        return replace(does, fees=self.dialect.fees, refuses=refuses, is_own=False)

    def _has_lists(self, memory: Memory) -> bool:
        """Whether the service has lists; if it had none, it is checked again after some minutes.

        While it does not answer, what is remembered of it shows that it keeps none.
        """
        with self._lock:
            known, is_old = self._lists, self._now() - self._looked_at > LOOKS_AGAIN_SECONDS
        if known is None or (not known and is_old):
            try:
                does_find = finds(self.client(Abilities()))
                known = does_find or has_lists(self.client(Abilities()))
            except (ServiceProblem, DeadlineExceeded):
                if known is None and not memory.newest():
                    raise
                known = does_find = False
            with self._lock:
                self._lists, self._finds, self._looked_at = known, does_find, self._now()
        return known
