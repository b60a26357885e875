"""The schemas of the deals service's answers: each entity as GET and POST show it."""

from lib.deals import moments
from lib.deals.models import ACTIONS, MEDIA_TYPES, STATUSES
from lib.wire.schemas import NUMBER, TEXT, Schema, a_list, an_object

ID: Schema = {"type": "integer", "minimum": 1}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "pattern": moments.PATTERN}
NO_TIME: Schema = {"type": ["string", "null"], "pattern": moments.PATTERN}
NO_TEXT: Schema = {"type": ["string", "null"]}
MEDIA: Schema = {"enum": [*MEDIA_TYPES]}
STATUS: Schema = {"enum": [*STATUSES], "description": "Derived from is_active and the dates. Ours."}
STAMPS = {"created_at": TIME, "updated_at": TIME}
REFERENCE = an_object({"id": ID, "name": TEXT})
DSP = an_object({"id": ID, "name": TEXT, "supports_deal_sync": FLAG})
SEAT = an_object({"id": ID, "name": TEXT, "external_id": NO_TEXT, "dsp": DSP})
IN_BRIEF = an_object(
    {
        "id": ID,
        "name": TEXT,
        "media_type": MEDIA,
        "is_active": FLAG,
        "start_date": TIME,
        "end_date": NO_TIME,
        "status": STATUS,
    }
)
LISTED = a_list(an_object({"id": ID, "name": TEXT, "is_excluded": FLAG}))
VALUES = a_list(an_object({"value": TEXT, "is_excluded": FLAG}))
PLACES = a_list(an_object({"type": TEXT, "value": TEXT, "is_excluded": FLAG}))
SIZES = a_list(an_object({"width": ID, "height": ID, "is_excluded": FLAG}))
NAMED = {"id": ID, "name": TEXT}
ANSWERS: dict[str, Schema] = {
    "supply_deals": an_object(
        NAMED
        | {
            "is_active": FLAG,
            "is_dynamic_bidding": FLAG,
            "is_true_price_opt_enable": FLAG,
            "media_type": MEDIA,
            "start_date": TIME,
            "end_date": NO_TIME,
            "app_list_targetings": LISTED,
            "browser_targetings": VALUES,
            "device_targetings": VALUES,
            "domain_list_targetings": LISTED,
            "geo_targetings": PLACES,
            "operating_system_targetings": VALUES,
            "size_targetings": SIZES,
            "demand_deals": a_list(REFERENCE),
            "packages": a_list(REFERENCE) | {"deprecated": True},
            "status": STATUS,
        }
        | STAMPS
    ),
    "demand_deals": an_object(
        NAMED
        | {
            "deal_id": TEXT | {"pattern": "^[A-Z0-9-]+$", "description": "What the DSP knows it by. Ours."},
            "package": {"anyOf": [REFERENCE, {"type": "null"}], "deprecated": True},
            "seat": SEAT,
            "dsp": DSP,
            "supply_deals": a_list(IN_BRIEF),
            "price": NUMBER,
            "deal_sync": FLAG,
            "is_active": FLAG,
            "agency_curation_fee": NUMBER,
            "agency_curation_fee_type": {"type": ["integer", "null"]},
            "contact_email": NO_TEXT,
            "status": STATUS,
        }
        | STAMPS
    ),
    "packages": an_object(
        NAMED
        | {
            "seats": a_list(an_object({"value": FLAG, "seat": SEAT, "dsp": DSP})),
            "supply_deals": a_list(IN_BRIEF),
            "demand_deals": a_list(an_object(NAMED | {"deal_id": TEXT, "status": STATUS})),
        }
        | STAMPS
    ),
    "seats": an_object(NAMED | {"external_id": NO_TEXT, "dsp": DSP} | STAMPS),
    "dsps": an_object(NAMED | {"supports_deal_sync": FLAG} | STAMPS),
    "domain_lists": an_object(NAMED | {"domains": a_list(TEXT)} | STAMPS),
    "app_lists": an_object(NAMED | {"apps": a_list(TEXT)} | STAMPS),
}
FIELDS: Schema = {"type": ["object", "null"]}
CHANGE = an_object(
    {"id": ID, "at": TIME, "who": TEXT, "action": {"enum": [*ACTIONS]}, "before": FIELDS, "after": FIELDS}
)


def page_of(schema: Schema) -> Schema:
    """A page of a list."""
    return an_object(
        {"count": {"type": "integer"}, "next": NO_TEXT, "previous": NO_TEXT, "results": a_list(schema)}
    )
