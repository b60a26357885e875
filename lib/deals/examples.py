"""Examples of requests to the deals API, for its documentation: entity → name → (summary, body)."""

from typing import Any

Examples = dict[str, tuple[str, Any]]
PACKAGE: dict[str, Any] = {
    "name": "Morning News Display",
    "media_type": "banner",
    "start_date": "2026-11-20 09:00:00+0100",
    "end_date": None,
    "is_active": True,
    "geo_targetings": [{"type": "country", "value": "US"}, {"type": "country", "value": "CA"}],
    "device_targetings": [{"value": "smartphone"}],
    "browser_targetings": [{"value": "Safari", "is_excluded": True}],
    "size_targetings": [{"width": 300, "height": 250}],
}
NEW_DEALS: dict[str, Any] = {
    "demand_deals_options": [
        {"seat": {"id": 1}, "price": 2.5, "deal_sync": True},
        {"seat": {"id": 4}, "price": 3.15},
    ],
    "agency_curation_fee": 10,
    "agency_curation_fee_type": 1,
    "contact_email": "deals@agency.example",
}
CREATE: dict[str, Examples] = {
    "supply_deals": {
        "new": (
            "With two demand deals, created with it",
            PACKAGE | {"create_demand_deals": NEW_DEALS},
        ),
        "linked": ("With a demand deal that is there already", PACKAGE | {"demand_deals": [{"id": 7}]}),
        "alone": ("Without demand deals", PACKAGE),
    },
    "demand_deals": {
        "deal": (
            "A seat's access to one supply package",
            {
                "name": "Morning News - Bluebird",
                "seat": {"id": 1},
                "price": 2.5,
                "supply_deals": [{"id": 1}],
            },
        )
    },
    "packages": {
        "package": (
            "Of two seats one is selected, and gets a deal",
            {
                "name": "Morning News",
                "seats": [
                    {"value": True, "seat": {"id": 1}, "dsp": {"id": 1}},
                    {"value": False, "seat": {"id": 4}, "dsp": {"id": 2}},
                ],
                "supply_deals": [{"id": 1}],
            },
        )
    },
    "seats": {
        "seat": ("A seat", {"name": "Bluebird & Partners", "external_id": "seat-107", "dsp": {"id": 1}})
    },
    "dsps": {"dsp": ("A DSP", {"name": "Alder Bidder", "supports_deal_sync": True})},
    "domain_lists": {
        "list": ("Two sites", {"name": "Quiet reading", "domains": ["news.example", "books.example"]})
    },
    "app_lists": {"list": ("Two apps", {"name": "Games", "apps": ["com.example.chess", "1234567890"]})},
}
CHANGE: dict[str, Examples] = {
    "supply_deals": {
        "pause": ("Pause it", {"is_active": False}),
        "prolong": ("Prolong it", {"end_date": "2026-12-31 23:59:59+0100"}),
        "link": ("Link these deals and no others", {"demand_deals": [{"id": 7}, {"id": 8}]}),
    },
    "demand_deals": {
        "price": ("Another price", {"price": 2.75}),
        "pause": ("Pause it", {"is_active": False}),
    },
    "packages": {"rename": ("Another name", {"name": "Morning News, old"})},
    "seats": {"rename": ("Another name", {"name": "Bluebird"})},
    "dsps": {"sync": ("It takes synchronized deals now", {"supports_deal_sync": True})},
    "domain_lists": {"domains": ("These domains and no others", {"domains": ["news.example"]})},
    "app_lists": {"apps": ("These apps and no others", {"apps": ["com.example.chess"]})},
}
