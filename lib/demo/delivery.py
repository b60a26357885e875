"""The slicer `delivery`: what the specification's sample slicer names, filled with invented auctions."""

import datetime as dt

import numpy as np
import pyarrow as pa

from lib.demo.auction import Auctions, hold, results
from lib.demo.columns import lists, numbers, text
from lib.demo.demand import campaigns, creatives, pixel_names
from lib.demo.draw import Flags, pick, pick_by
from lib.demo.facts import mapping, regions, table
from lib.demo.population import ANOMALIES, LANGUAGE_LISTS
from lib.demo.scene import Scene, set_scene, time_column, user_columns
from lib.demo.supply import (
    EXCHANGES,
    SIZE_LISTS,
    SIZE_WEIGHTS,
    VISIBILITIES,
    exchange_weights,
    page_labels,
    sites,
)

Columns = dict[str, pa.Array]
PREFIX = "bid_context_wrapper"
_OF_USER = {
    "geo.country": "country",
    "geo.country_region": "region",
    "geo.city": "city",
    "geo.dma": "dma",
    "geo.zip": "zip",
    "agent.browser.name": "browser",
    "agent.browser.version": "browser_version",
    "agent.os.name": "os",
    "agent.os.version": "os_version",
    "agent.device.type": "device_type",
    "agent.device.model": "model",
    "agent.device.maker": "maker",
}
_PIXELS_FIRED = ((), (0,), (2,), (0, 2), (1, 2))
_PIXEL_WEIGHTS = (0.0, 0.35, 0.30, 0.20, 0.15)


def delivery(rng: np.random.Generator, today: dt.date, rows: int) -> pa.Table:
    """The rows, in order of time. Rows on which nobody bid have no demand, and no bids."""
    held = hold(rng, set_scene(rng, today, rows))
    data = results(rng, held)
    converted = data["pv_convs"] + data["pc_convs"] > 0
    columns = {"time": time_column(held.scene)}
    columns |= _demand_columns(held) | _supply_columns(rng, held) | _user_columns(held.scene)
    columns |= _content_columns(rng, held) | {"conversion_id": _conversions(rng, held, converted)}
    return pa.table(columns | {name: numbers(values) for name, values in data.items()})


def delivery_mappings() -> dict[str, dict[str, str]]:
    """Name → code → text of every mapping that delivery.yaml refers to."""
    shared = {name: mapping(name) for name in ("country", "dma", "language", "category", "segment", "yes_no")}
    return shared | {
        "region": regions(),
        "advertiser": {row["id"]: row["name"] for row in table("advertisers")},
        "campaign": {campaign.id: campaign.name for campaign in campaigns()},
        "line_item": {creative.line_item_id: creative.line_item for creative in creatives()},
        "creative": {creative.id: creative.name for creative in creatives()},
        "publisher": {site.publisher.id: site.publisher.name for site in sites()},
        "site": {site.id: site.name for site in sites()},
        "conversion": pixel_names(),
    }


def _demand_columns(held: Auctions) -> Columns:
    demand: dict[str, list[str]] = {
        "advertiser_id": [creative.campaign.advertiser_id for creative in creatives()],
        "campaign_id": [creative.campaign.id for creative in creatives()],
        "line_item_id": [creative.line_item_id for creative in creatives()],
        "creative_id": [creative.id for creative in creatives()],
        "tag_type": [str(creative.campaign.tag_type) for creative in creatives()],
    }
    bought = np.where(held.sold, held.creative, len(creatives()))
    return {f"{PREFIX}.demand.{name}": text(bought, [*labels, ""]) for name, labels in demand.items()}


def _supply_columns(rng: np.random.Generator, held: Auctions) -> Columns:
    site = held.site
    page = site * 3 + pick(rng, (0.5, 0.3, 0.2), len(site))
    columns = {
        "bid.ssp": text(pick_by(rng, exchange_weights(rng), site), EXCHANGES),
        "supply.publisher_id": text(site, [s.publisher.id for s in sites()]),
        "supply.site_id": text(site, [s.id for s in sites()]),
        "supply.visibility": text(held.visibility, VISIBILITIES),
        "supply.site_domain": text(site, [s.domain for s in sites()]),
        "supply.page_domain": text(page, page_labels()),
    }
    return {f"{PREFIX}.{name}": column for name, column in columns.items()}


def _user_columns(scene: Scene) -> Columns:
    plain, people, user = user_columns(scene), scene.population, scene.user
    columns = {f"{PREFIX}.user.{name}": plain[own] for name, own in _OF_USER.items()}
    return columns | {
        "users": plain["users"],
        "languages_list": lists(people.languages[user], LANGUAGE_LISTS),
        "segments_list": lists(people.interests[user], people.interest_lists),
        "anomaly_segment": text(people.anomaly[user], ANOMALIES),
    }


def _content_columns(rng: np.random.Generator, held: Auctions) -> Columns:
    site, hours = held.site, [str(hour) for hour in range(24)]
    secure = np.where(rng.random(len(site)) < 0.97, 1, 0)
    return {
        "is_secure_request": text(secure, ("0", "1")),
        "is_app": text(site, ["0" if s.kind == "web" else "1" for s in sites()]),
        "blocked_adv_categories": lists(site, [s.publisher.blocked for s in sites()]),
        "content_categories": lists(site, [s.publisher.categories for s in sites()]),
        "requested_sizes": lists(pick_by(rng, SIZE_WEIGHTS, held.scene.platform), SIZE_LISTS),
        "hour_str": text(held.scene.hour % 24, hours),
    }


def _conversions(rng: np.random.Generator, held: Auctions, converted: Flags) -> pa.ListArray:
    """The conversions of each row: one or two of the advertiser's, if there were any."""
    which = np.where(converted, pick(rng, _PIXEL_WEIGHTS, held.scene.rows), 0)
    variants = [[creative.pixels[n] for n in chosen] for creative in creatives() for chosen in _PIXELS_FIRED]
    return lists(held.creative * len(_PIXELS_FIRED) + which, variants)
