"""The response schemas of the deals service: each entity as returned by GET and POST."""

from lib.deals import fields, requests
from lib.deals.fields import MOMENT, STATUS
from lib.deals.models import ACTIONS
from lib.wire.schemas import FLAG, NO_TEXT, TEXT, Schema, a_list, an_object

ID: Schema = {"type": "integer", "minimum": 1}
TIME = MOMENT.answer
STAMPS = {"created_at": TIME, "updated_at": TIME}
REFERENCE = an_object({"id": ID, "name": TEXT})
DSP = an_object({"id": ID, "name": TEXT, "supports_deal_sync": FLAG})
SEAT = an_object({"id": ID, "name": TEXT, "external_id": NO_TEXT, "dsp": DSP})
NAMED = {"id": ID, "name": TEXT}


def _plain(entity: str, *names: str) -> dict[str, Schema]:
    """The entity's plain fields; with `names` these alone."""
    return {one.name: one.answer for one in fields.of(entity) if not names or one.name in names}


IN_BRIEF = an_object(
    NAMED | _plain(fields.SUPPLY, "media_type", "is_active", "start_date", "end_date", "status")
)
ANSWERS: dict[str, Schema] = {
    fields.SUPPLY: an_object(
        NAMED
        | _plain(fields.SUPPLY)
        | requests.ANSWERS
        | {"demand_deals": a_list(REFERENCE), "packages": a_list(REFERENCE) | {"deprecated": True}}
        | STAMPS
    ),
    fields.DEALS: an_object(
        NAMED
        | _plain(fields.DEALS)
        | {
            "package": {"anyOf": [REFERENCE, {"type": "null"}], "deprecated": True},
            "seat": SEAT,
            "dsp": DSP,
            "supply_deals": a_list(IN_BRIEF),
        }
        | STAMPS
    ),
    "packages": an_object(
        NAMED
        | {
            "seats": a_list(an_object({"value": FLAG, "seat": SEAT, "dsp": DSP})),
            "supply_deals": a_list(IN_BRIEF),
            "demand_deals": a_list(an_object(NAMED | {"deal_id": TEXT, "status": STATUS.answer})),
        }
        | STAMPS
    ),
    "seats": an_object(NAMED | {"external_id": NO_TEXT, "dsp": DSP} | STAMPS),
    "dsps": an_object(NAMED | {"supports_deal_sync": FLAG} | STAMPS),
    "domain_lists": an_object(NAMED | {"domains": a_list(TEXT)} | STAMPS),
    "app_lists": an_object(NAMED | {"apps": a_list(TEXT)} | STAMPS),
}
WARNINGS = a_list(TEXT) | {
    "description": "What is valid and probably a slip, in sentences; left out without any. An extension."
}
CHANGED_ONE = an_object(
    {"id": ID, "status": {"type": "integer", "description": "204, or the code that it would answer alone"}},
    {"error": {"type": "object", "description": "The body of that refusal"}, "warnings": WARNINGS},
)
COUNTED = "Filter → value → how many; only where `counts` asks for it. An extension."
FIELDS: Schema = {"type": ["object", "null"]}
CHANGE = an_object(
    {"id": ID, "at": TIME, "who": TEXT, "action": {"enum": [*ACTIONS]}, "before": FIELDS, "after": FIELDS}
)


def with_warnings(schema: Schema) -> Schema:
    """The answer to a creation."""
    return schema | {"properties": schema["properties"] | {"warnings": WARNINGS}}


def page_of(schema: Schema) -> Schema:
    """A page of a list."""
    counts = {"type": "object", "additionalProperties": {"type": "object"}, "description": COUNTED}
    return an_object(
        {"count": {"type": "integer"}, "next": NO_TEXT, "previous": NO_TEXT, "results": a_list(schema)},
        {"counts": counts, "etags": {"type": "object", "additionalProperties": {"type": "string"}}},
    )
