"""A desk from Python: a thin face of the clients of both APIs."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Self, Unpack, cast, get_args

import pandas as pd

from lib.agents.python_client import answer, clients
from lib.agents.python_client.answer import Answer, DateLike, Names, QuestionParts, SelectionParts, WhatMoved
from lib.agents.python_client.clients import DeskClients
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Resource, SupplyPackage
from lib.reporting import links, named_days
from lib.reporting.answers.records import RecordTable
from lib.reporting.client import Reporting
from lib.reporting.models import (
    MOST_RECORDS,
    ROWS_LIMITS,
    AudienceQuery,
    ExportFormat,
    ExportQuery,
    InfoQuery,
)
from lib.reporting.moved import explain
from lib.settings import Settings
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.models import Slicer
from lib.wire.errors import AccessError, BadRequest, UnknownName

AT_ONCE, EXACT_MILLISECONDS, INFO_SECONDS = 4, 3_600_000, 60.0
Pair = tuple[str, str]


class Desk:
    """A desk: `Desk("https://desk.example", token="…")`, or `Desk.local("ada")` over this machine's data.

    Slicers are named `project/slicer`. Everything raises TrancheErrors: AccessError for a wrong token,
    BadRequest for a wrong question (it says what would be right), ServiceProblem without an answer.
    """

    def __init__(
        self,
        address: str,
        token: str,
        deals_token: str | None = None,
        *,
        ca_file: Path | None = None,
        seconds: float = 60,
    ) -> None:
        """By tokens: one for the reporting API, and one for the deals API where deals are asked for.

        `ca_file` are the certificates to trust instead of the usual ones; `seconds` are those for an answer.
        """
        self._clients = clients.remote(address, token, deals_token, ca_file, seconds)
        self._infos: dict[Pair, tuple[float, Slicer]] = {}

    @classmethod
    def of(cls, desk_clients: DeskClients) -> Self:
        """Over clients that are there already."""
        desk = cls.__new__(cls)
        desk._clients, desk._infos = desk_clients, {}
        return desk

    @classmethod
    def local(cls, user: str, home: Path | str | None = None, settings: Settings | None = None) -> Self:
        """In this process, over a data directory (default: that of the settings), as one of its people.

        UnknownName without such a person; Misconfigured for settings that can't be used.
        """
        options: dict[str, Any] = {} if home is None else {"home": Path(home)}
        return cls.of(clients.local(user, settings or Settings.load(**options)))

    @property
    def address(self) -> str:
        """Where the desk is, for links."""
        return self._clients.address

    @property
    def reporting(self) -> Reporting:
        return self._clients.reporting

    @property
    def deals_api(self) -> Deals:
        """The client of the deals API: it also creates and changes (see its create, change and add_deals)."""
        return self._clients.open_deals()

    def slicers(self) -> list[str]:
        """The slicers that the caller may see, as `project/slicer`."""
        return [f"{project}/{name}" for project, name in self._clients.slicers()]

    def info(self, slicer: str) -> Slicer:
        """The slicer: its days, key fields and data fields. UnknownName has the nearest name.

        What was asked for in the last minute is not asked for again.
        """
        pair, now = self.pair(slicer), time.monotonic()
        at, about = self._infos.get(pair, (now, None))
        if about is None or now - at > INFO_SECONDS:
            if self._clients.is_checked_here and pair not in self._clients.slicers():
                raise UnknownName("slicer", "/".join(pair), self.slicers())
            try:
                about = self.reporting.info(InfoQuery(project_name=pair[0], slicer_name=pair[1]))
            except AccessError:
                if pair in (slicers := self._clients.slicers()):
                    raise
                raise UnknownName("slicer", "/".join(pair), map("/".join, slicers)) from None
            self._infos[pair] = now, about
        return about

    def query(self, slicer: str, *, exact: bool = False, **parts: Unpack[QuestionParts]) -> AudienceQuery:
        """The question of `ask`, checked, without asking it."""
        more: dict[str, Any] = {"precision": 1}
        if exact:
            more |= {"exact_within": EXACT_MILLISECONDS, "audience_rows_limit": ROWS_LIMITS[1]}
        pair, about = self.pair(slicer), self.info(slicer)
        return answer.query(AudienceQuery, pair, about, parts, **more)

    def ask(
        self, slicer: str, *, exact: bool = False, descriptions: bool = False, **parts: Unpack[QuestionParts]
    ) -> Answer:
        """The figures. Of more than a million records a sample is read, unless the answer is to be `exact`.

        With `descriptions` the answer's `audience.descriptions` has those of coded values.
        """
        query = self.query(slicer, exact=exact, **parts)
        return self.answer(query.model_copy(update={"include_mappings": int(descriptions)}))

    def answer(self, query: AudienceQuery) -> Answer:
        """The answer to a question that is already made."""
        about = self.info(f"{query.project_name}/{query.slicer_name}")
        audience = self.reporting.audience(query, about)
        return Answer(query, about, audience, named_days.days_of(query, about), self.link(query))

    def what_moved(
        self,
        slicer: str,
        field: str,
        *,
        before: tuple[DateLike, DateLike] | None = None,
        key_fields: Names = (),
        **parts: Unpack[QuestionParts],
    ) -> WhatMoved:
        """The values of the key fields (default: all) that moved a data field, beyond noise.

        `before` are the days to compare with: by default the same part of the period before.
        BadRequest where there are none.
        """
        parts["fields"] = [field]
        query, about = self.query(slicer, **parts), self.info(slicer)
        now = named_days.days_of(query, about)
        today = named_days.today(query, about)
        other = before or named_days.part_before(query.start_date, now, today, about).days
        earlier = self.query(slicer, start=other[0], end=other[1])
        days = named_days.days_of(earlier, about)
        names = [key_fields] if isinstance(key_fields, str) else list(key_fields)
        every_name = [field.name for field in about.key_fields if field.name not in TIME_KEY_FIELDS]
        for name in names:
            if name not in every_name:
                raise UnknownName("key field", name, every_name)
        ask = partial(self.reporting.audience, slicer=about)
        with ThreadPoolExecutor(AT_ONCE, "moved") as pool:
            result = explain.explain(
                lambda queries: list(pool.map(ask, queries)),
                query, about, about.data_field(field), (days, now), names or every_name,
            )  # fmt: skip
        texts = [day.isoformat() for day in days]
        link = self.link(query, field=field, lower="moved", compare=links.join_texts(texts))
        return WhatMoved(field, result, days, now, link)

    def records(
        self,
        slicer: str,
        *,
        columns: Names | None = None,
        order: Names = (),
        limit: int = MOST_RECORDS,
        descriptions: bool = False,
        **parts: Unpack[SelectionParts],
    ) -> RecordTable:
        """The records behind a figure: its `frame` has some of the `records_found`, the latest first.

        `columns` are key fields, those of time too, and data fields; `order` names some, with a minus before
        those that fall. With `descriptions` there is one more column for each coded field.
        """
        pair, about = self.pair(slicer), self.info(slicer)
        more: dict[str, Any] = {"limit": limit, "include_mappings": int(descriptions)}
        if columns is not None:
            more["columns"] = [columns] if isinstance(columns, str) else list(columns)
        return self.reporting.records(answer.records_query(pair, about, parts, order, **more), about)

    def export(
        self,
        slicer: str,
        path: Path | str,
        format: str | None = None,
        *,
        total: bool = False,
        **parts: Unpack[QuestionParts],
    ) -> Path:
        """Write the answer as a file (csv, tsv, tsv2, xls, xlsx), never sampled; returns its path.

        Without a format the name's ending decides, csv where it says nothing; BadRequest where both disagree.
        A file that is there is replaced once the new one is complete.
        """
        pair, about = self.pair(slicer), self.info(slicer)
        target = Path(path)
        # The format of an export to this path. BadRequest where its name ends in another one.
        ending = target.suffix.lower().removeprefix(".")
        by_name = ending if ending in get_args(ExportFormat) else None
        if format and by_name and format.rstrip("2") != by_name:
            raise BadRequest(
                f"{target.name} ends in .{ending}, but its format would be {format}; write one of the two"
            )
        more = {"export_format": (format or by_name or "csv"), "include_total": int(total)}
        query = answer.query(ExportQuery, pair, about, parts, **more)
        partial_file = target.with_name(f".{target.name}.part")
        with self.reporting.export(query, about).content as content, partial_file.open("wb") as file:
            shutil.copyfileobj(content, file)
        return partial_file.replace(target)

    def packages(self, **params: Any) -> pd.DataFrame:
        """The supply packages, a row each; `params` are `search`, `ordering`, `limit` and plain fields."""
        return self._entities(SupplyPackage, params)

    def deals(self, **params: Any) -> pd.DataFrame:
        """The demand deals, a row for each, with their seats and DSPs; `params` as for packages."""
        return self._entities(DemandDeal, params)

    def link(self, query: AudienceQuery, **view: str) -> str:
        """The address of the same question on the desk; `view` are further parameters of it."""
        having = {"having": links.having(query.data_filters)} if query.data_filters else {}
        first = {"field": query.data_fields[0]} if query.data_fields else {}
        return links.address(self.address, links.to_params(query) | having | first | view)

    def pair(self, slicer: str) -> Pair:
        """Project and name of a slicer. BadRequest for a text that has no slash."""
        project, slash, name = slicer.partition("/")
        if not slash:
            names = ", ".join(self.slicers()) or "none that you may see"
            raise BadRequest(f"A slicer is written project/slicer, not '{slicer}'; there are {names}")
        return project, name

    def _entities(self, model: type[Resource], params: dict[str, Any]) -> pd.DataFrame:
        is_page, api = "limit" in params or "offset" in params, self.deals_api
        entities = api.list(model, **params).results if is_page else api.everything(model, **params)
        rows = [entity.model_dump(exclude_unset=True) for entity in entities]
        return pd.json_normalize(cast(Any, rows))
