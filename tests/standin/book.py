"""The packages and deals of the stand-in's deals service, in its own dialect."""

import json
import re
from dataclasses import dataclass, field
from itertools import count
from typing import Any

Body = dict[str, Any]
SEATS = {71: "Alder Trading", 72: "Birch Media", 99: "Nobody's Seat"}
DSPS = {
    71: {"id": 8, "name": "Alder DSP"},
    72: {"id": 9, "name": "Birch DSP"},
    99: {"id": 9, "name": "Birch DSP"},
}
FEE_TYPES = (10, 30)
FEES = ("agency_curation_fee", "agency_curation_fee_type")
GEO_KINDS = ("COUNTRY", "REGION", "CITY")
ELEMENTS = {
    "geo_targetings": lambda element: (
        element["geo"]["kind"] in GEO_KINDS and isinstance(element["geo"]["code"], str)
    ),
    "browser_targetings": lambda element: isinstance(element["term"], str),
    "device_targetings": lambda element: isinstance(element["term"], str),
    "operating_system_targetings": lambda element: isinstance(element["term"], str),
    "size_targetings": lambda element: int(element["w"]) > 0 and int(element["h"]) > 0,
    "domain_list_targetings": lambda element: int(element["list"]["id"]) > 0,
    "app_list_targetings": lambda element: int(element["list"]["id"]) > 0,
}
SETTINGS: Body = {
    "targeting_names": {
        "geo_targetings": {
            "type": "geo.kind=country:COUNTRY,region:REGION,city:CITY",
            "value": "geo.code",
            "is_excluded": "exclude=true:1,false:0",
        },
        **{
            f"{kind}_targetings": {"value": "term", "is_excluded": "exclude=true:1,false:0"}
            for kind in ("browser", "device", "operating_system")
        },
        "size_targetings": {"width": "w", "height": "h", "is_excluded": "exclude=true:1,false:0"},
        "domain_list_targetings": {"id": "list.id", "is_excluded": "exclude=true:1,false:0"},
        "app_list_targetings": {"id": "list.id", "is_excluded": "exclude=true:1,false:0"},
    },
    "fee_types": {1: 10, 3: 30},
}
"""What an administrator writes into the settings for this service."""

GIVEN = frozenset({"id", "dsp", "currency", "audit", "served"})
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d{4}")


@dataclass
class Book:
    """The entities by id, the behavior of the service, and its requests (method, path, body).

    `header` and `scheme` are how it wants its token, `error_code` the code of errors, 200 or 400, `made_code`
    that of creations, `changed_code` that of changes. `garbles` is how many of its next answers to writing
    are pages for people, though it did what was asked; `forgets` are fields that it accepts and leaves.
    """

    packages: dict[int, Body] = field(default_factory=dict)
    deals: dict[int, Body] = field(default_factory=dict)
    header: str = "Authorization"
    scheme: str = "Bearer"
    error_code: int = 200
    made_code: int = 201
    changed_code: int = 204
    garbles: int = 0
    forgets: frozenset[str] = frozenset()
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    served: Any = field(default_factory=lambda: count(1))
    ids: Any = field(default_factory=lambda: count(501))

    def add(self, seat: int, price: str, **more: Any) -> int:
        """A deal that somebody made at the service itself; returns its id."""
        new = next(self.ids)
        fields = {"id": new, "name": f"Elsewhere {new}", "seat": _seat(seat), "dsp": DSPS[seat]}
        self.deals[new] = fields | {"price": price, "is_active": 1, "supply_deals": [], **more}
        return new


class Wrong(Exception):
    """A request that this service refuses; what is wrong, per field."""

    def __init__(self, **fields: str) -> None:
        super().__init__(str(fields))
        self.fields = fields


def supply(book: Book, body: Body) -> Body:
    """A supply package, with a deal for each option."""
    _check(body)
    if body.get("create_demand_deals") and body.get("demand_deals"):
        raise Wrong(demand_deals="Either create deals or link them.")
    new = next(book.ids)
    fields = {
        name: part for name, part in body.items() if name not in ("create_demand_deals", "demand_deals")
    }
    linked = [_linked(book, reference) for reference in body.get("demand_deals") or ()]
    created = body.get("create_demand_deals") or {}
    options = [_option(options) for options in created.get("demand_deals_options") or ()]
    terms = _terms(created)
    package = book.packages[new] = fields | {"id": new}
    for option in options:
        linked.append(_new_deal(book, {**option, **terms}, package["name"]))
    for deal in linked:
        deal["supply_deals"].append({"id": new, "name": package["name"]})
    package["demand_deals"] = [{"id": deal["id"], "name": deal["name"]} for deal in linked]
    named = {name: package[name] for name in ("id", "name", "demand_deals")}
    kept = {name: part for name, part in package.items() if name in ELEMENTS}
    return named | kept | {"packages": [], **_more(book)}


def package(book: Book, body: Body) -> Body:
    """A package of the deprecated kind, with a deal for each seat that is chosen."""
    _check({"start_date": "2026-01-01 00:00:00+0000", **body})
    new = next(book.ids)
    chosen = [choice for choice in body.get("seats") or () if choice["value"]]
    new_deals = [
        _new_deal(book, {"seat": _known(choice["seat"]), "price": None}, body["name"]) for choice in chosen
    ]
    listed = [{"id": deal["id"], "name": deal["name"]} for deal in new_deals]
    return {"id": new, "name": body["name"], "seats": body.get("seats") or [], "demand_deals": listed}


def _new_deal(book: Book, fields: Body, name: str) -> Body:
    new = next(book.ids)
    seat = fields["seat"]
    deal = {"id": new, "name": f"{name} - {SEATS[seat]}", "seat": _seat(seat), "dsp": DSPS[seat]}
    more = {part: value for part, value in fields.items() if part != "seat"}
    book.deals[new] = {"is_active": 1, "supply_deals": [], **more, **deal}
    return book.deals[new]


def change(deal: Body, body: Body) -> None:
    """Change a deal; only what it has can be changed."""
    if unknown := [name for name in body if name not in deal.keys() - GIVEN | {"contact_email", *FEES}]:
        raise Wrong(**{unknown[0]: "This can't be changed."})
    changed = dict(body)
    if "price" in body:
        changed["price"] = _price(body["price"])
    if "seat" in body:
        changed["seat"] = _seat(_known(body["seat"]))
    deal.update(changed | _terms(body))


def _check(body: Body) -> None:
    if not str(body.get("name") or "").strip():
        raise Wrong(name="This field may not be blank.")
    if not MOMENT.fullmatch(str(body.get("start_date"))):
        raise Wrong(start_date="Wrong format.")
    for array, fits in ELEMENTS.items():
        for element in body.get(array) or ():
            try:
                good = fits(element) and element["exclude"] in (0, 1)
            except (KeyError, TypeError, ValueError):
                good = False
            if not good:
                raise Wrong(**{array: f"Not an element of this service: {json.dumps(element)}"})


def _option(options: Body) -> Body:
    return {
        "seat": _known(options["seat"]),
        "price": _price(options.get("price")),
        "deal_sync": options.get("deal_sync"),
    }


def _terms(body: Body) -> Body:
    terms = {name: body[name] for name in (*FEES, "contact_email") if body.get(name) is not None}
    if terms.get(FEES[1], FEE_TYPES[0]) not in FEE_TYPES:
        raise Wrong(agency_curation_fee_type="Unknown type.")
    if FEES[0] in terms:
        terms[FEES[0]] = str(terms[FEES[0]])
    return terms


def _price(price: Any) -> str:
    if not isinstance(price, int | float) or price <= 0:
        raise Wrong(price="Must be greater than zero.")
    return f"{price:.2f}"


def _known(seat: Body) -> int:
    if seat.get("id") not in SEATS:
        raise Wrong(seat=f"There is no seat {seat.get('id')}.")
    return int(seat["id"])


def _linked(book: Book, reference: Body) -> Body:
    if reference.get("id") not in book.deals:
        raise Wrong(demand_deals=f"There is no deal {reference.get('id')}.")
    return book.deals[reference["id"]]


def shown(book: Book, deal: Body) -> Body:
    """A deal as it is answered: its packages whole, and more than anybody asked for."""
    packages = [
        {name: part for name, part in book.packages[reference["id"]].items() if name != "demand_deals"}
        for reference in deal["supply_deals"]
        if reference["id"] in book.packages
    ]
    return deal | {"supply_deals": packages, **_more(book)}


def _more(book: Book) -> Body:
    """Fields of its own; one of them is another at each look."""
    return {"currency": "EUR", "audit": {"by": "batch", "run": "7"}, "served": next(book.served)}


def _seat(seat: int) -> Body:
    return {"id": seat, "code": f"S-{seat}"}
