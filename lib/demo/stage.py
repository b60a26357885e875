"""Writes the demo to disk: the slicers with their auctions, and three people."""

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from lib.demo import stories
from lib.demo.cast import PASSWORD, PEOPLE, PROJECT, Chances, auctions, counts
from lib.demo.curation import curation, curation_mappings
from lib.demo.demand import campaigns, creative_weights, creatives, pixel_names, rates
from lib.demo.facts import Flags, Floats, Ints, agents, cents, mapping, pick, pick_by, regions, table
from lib.demo.population import ANOMALIES, LANGUAGE_LISTS
from lib.demo.scene import Scene, lists, markets, numbers, set_scene, text, time_column, user_columns
from lib.demo.supply import (
    EXCHANGES,
    SIZE_LISTS,
    SIZE_WEIGHTS,
    VIEWABILITY,
    VISIBILITIES,
    exchange_weights,
    page_labels,
    site_weights,
    sites,
    visibility_weights,
)
from lib.engines import prepare
from lib.people import People
from lib.slicers.definition import Definition
from lib.slicers.definition.file import read_definition
from lib.slicers.warehouse import Mode, Warehouse
from lib.slicers.warehouse.slicer import StoredSlicer

NOTHING_BID = 0.09
TYPICAL_AUCTIONS = 30.0
DAILY_NOISE = 0.06
_VAST = ("video", "audio")
CURATION = "curation"
"""The slicer that tells deals apart."""
Columns = dict[str, pa.Array]
PREFIX = "bid_context_wrapper"
_OF_USER = {
    "geo.country": "country", "geo.country_region": "region", "geo.city": "city", "geo.dma": "dma",
    "geo.zip": "zip", "agent.browser.name": "browser", "agent.browser.version": "browser_version",
    "agent.os.name": "os", "agent.os.version": "os_version", "agent.device.type": "device_type",
    "agent.device.model": "model", "agent.device.maker": "maker",
}  # fmt: skip
_PIXEL_SETS = ((), (0,), (2,), (0, 2), (1, 2))
_PIXEL_WEIGHTS = (0.0, 0.35, 0.30, 0.20, 0.15)
ROWS = 1_000_000
SEED = 1815
SOURCE = "tranche demo"
Progress = Callable[[float, str], None]
Generate = Callable[[np.random.Generator, dt.date, int], pa.Table]


@dataclass(frozen=True)
class Auctions:
    """Per row: the scene, the site, how its ad is placed, the creative, and whether anybody bid."""

    scene: Scene
    site: Ints
    visibility: Ints
    creative: Ints
    has_bid: Flags


def hold(rng: np.random.Generator, scene: Scene) -> Auctions:
    """Combine supply and demand: sites by country and platform, creatives by week as well."""
    site = pick_by(rng, site_weights(), scene.market)
    visibility = pick_by(rng, visibility_weights(rng), site)
    week_and_market = (scene.hour // 168) * markets() + scene.market
    creative = pick_by(rng, creative_weights(rng), week_and_market)
    return Auctions(scene, site, visibility, creative, rng.random(scene.rows) >= NOTHING_BID)


def results(rng: np.random.Generator, sample: Auctions) -> dict[str, Ints | Floats]:
    """All data fields as numbers per row; zero but for `nobids` where nobody bid."""
    busy = rng.lognormal(0.0, 0.25, len(sites()))
    auction_counts = auctions(rng, TYPICAL_AUCTIONS * busy[sample.site])
    terms = rates(rng)
    scene, user, rows = sample.scene, sample.scene.user, sample.scene.rows
    kind = np.array([site.kind for site in sites()])[sample.site]
    of_publisher = np.array([site.publisher.id == stories.PUBLISHER for site in sites()])[sample.site]
    in_browser = np.array([agent.browser == stories.BROWSER for agent in agents()])
    is_video = np.array([creative.campaign.tag_type in _VAST for creative in creatives()])
    viewability = np.where(kind == "tv", 0.96, VIEWABILITY[sample.visibility]) * rng.normal(1.0, 0.04, rows)
    win_rate = rng.beta(6.0, 24.0, len(sites())) * rng.normal(1.0, DAILY_NOISE, (stories.DAYS, len(sites())))
    handling = np.where(kind == "tv", 0.05, np.where(scene.platform == 1, 1.3, 1.0))
    chances = Chances(
        win=win_rate[scene.hour // 24, sample.site] * stories.win_rate_factor(scene.hour, of_publisher),
        viewability=viewability * stories.viewability_factor(in_browser[scene.population.agent[user]]),
        click=terms.click[sample.creative] * handling,
        is_video=is_video[sample.creative],
        is_anomalous=scene.population.anomaly[user] > 0,
    )
    figures = counts(rng, np.where(sample.has_bid, auction_counts, 0), chances)
    # Amounts in dollars: bids, won bids, what the advertiser pays, and what the publisher gets.
    price = terms.price[sample.creative] * scene.spending * rng.lognormal(0.0, 0.2, rows) / 1000
    win_amount = price * rng.uniform(0.85, 1.0, rows) * figures["imps"]
    share = rng.uniform(0.76, 0.93, len(sites()))
    amounts = {
        "bid_amount": cents(price * figures["bids"]),
        "win_bid_amount": cents(win_amount),
        "payout.adv_payout": cents(win_amount * terms.markup[sample.creative]),
        "payout.actual_pub": cents(win_amount * share[sample.site]),
    }
    return figures | {"nobids": np.where(sample.has_bid, 0, 2 * auction_counts)} | amounts


def delivery(rng: np.random.Generator, today: dt.date, rows: int) -> pa.Table:
    """The rows, in order of time. Rows on which nobody bid have no demand, and no bids."""
    auctions = hold(rng, set_scene(rng, today, rows))
    data = results(rng, auctions)
    has_pixel = data["pv_convs"] + data["pc_convs"] > 0
    columns = {"time": time_column(auctions.scene)}
    demand: dict[str, list[str]] = {
        "advertiser_id": [creative.campaign.advertiser_id for creative in creatives()],
        "campaign_id": [creative.campaign.id for creative in creatives()],
        "line_item_id": [creative.line_item_id for creative in creatives()],
        "creative_id": [creative.id for creative in creatives()],
        "tag_type": [str(creative.campaign.tag_type) for creative in creatives()],
    }
    places = np.where(auctions.has_bid, auctions.creative, len(creatives()))
    columns |= {f"{PREFIX}.demand.{name}": text(places, [*labels, ""]) for name, labels in demand.items()}
    plain, people, user = user_columns(auctions.scene), auctions.scene.population, auctions.scene.user
    columns |= _supply_columns(rng, auctions)
    columns |= {f"{PREFIX}.user.{name}": plain[own] for name, own in _OF_USER.items()}
    columns |= {
        "users": plain["users"],
        "languages_list": lists(people.languages[user], LANGUAGE_LISTS),
        "segments_list": lists(people.interests[user], people.interest_lists),
        "anomaly_segment": text(people.anomaly[user], ANOMALIES),
    }
    site, hours = auctions.site, [str(hour) for hour in range(24)]
    secure = np.where(rng.random(len(site)) < 0.97, 1, 0)
    columns |= {
        "is_secure_request": text(secure, ("0", "1")),
        "is_app": text(site, ["0" if s.kind == "web" else "1" for s in sites()]),
        "blocked_adv_categories": lists(site, [s.publisher.blocked for s in sites()]),
        "content_categories": lists(site, [s.publisher.categories for s in sites()]),
        "requested_sizes": lists(pick_by(rng, SIZE_WEIGHTS, auctions.scene.platform), SIZE_LISTS),
        "hour_str": text(auctions.scene.hour % 24, hours),
    }
    # The conversions of each row: one or two of the advertiser's, if there were any.
    which = np.where(has_pixel, pick(rng, _PIXEL_WEIGHTS, auctions.scene.rows), 0)
    variants = [[creative.pixels[n] for n in pixels] for creative in creatives() for pixels in _PIXEL_SETS]
    columns["conversion_id"] = lists(auctions.creative * len(_PIXEL_SETS) + which, variants)
    return pa.table(columns | {name: numbers(values) for name, values in data.items()})


def delivery_mappings() -> dict[str, dict[str, str]]:
    """Name → code → text of every mapping that delivery.yaml refers to."""
    common = {name: mapping(name) for name in ("country", "dma", "language", "category", "segment", "yes_no")}
    return common | {
        "region": regions(),
        "advertiser": {row["id"]: row["name"] for row in table("advertisers")},
        "campaign": {campaign.id: campaign.name for campaign in campaigns()},
        "line_item": {creative.line_item_id: creative.line_item for creative in creatives()},
        "creative": {creative.id: creative.name for creative in creatives()},
        "publisher": {site.publisher.id: site.publisher.name for site in sites()},
        "site": {site.id: site.name for site in sites()},
        "conversion": pixel_names(),
    }


def _supply_columns(rng: np.random.Generator, auctions: Auctions) -> Columns:
    site = auctions.site
    page = site * 3 + pick(rng, (0.5, 0.3, 0.2), len(site))
    columns = {
        "bid.ssp": text(pick_by(rng, exchange_weights(rng), site), EXCHANGES),
        "supply.publisher_id": text(site, [s.publisher.id for s in sites()]),
        "supply.site_id": text(site, [s.id for s in sites()]),
        "supply.visibility": text(auctions.visibility, VISIBILITIES),
        "supply.site_domain": text(site, [s.domain for s in sites()]),
        "supply.page_domain": text(page, page_labels()),
    }
    return {f"{PREFIX}.{name}": column for name, column in columns.items()}


@dataclass(frozen=True)
class Act:
    """One slicer of the demo: how its rows and mappings are made, and its share of all rows."""

    name: str
    generate: Generate
    mappings: Callable[[], Mapping[str, Mapping[str, str]]]
    share: float

    @property
    def definition(self) -> Definition:
        """The definition that ships beside this file."""
        return read_definition(Path(__file__).with_name(f"{self.name}.yaml"))


ACTS = (Act("delivery", delivery, delivery_mappings, 0.7), Act(CURATION, curation, curation_mappings, 0.3))


def build(
    warehouse: Warehouse,
    people: People,
    today: dt.date,
    rows: int = ROWS,
    progress: Progress | None = None,
    seed: int = SEED,
) -> tuple[StoredSlicer, ...]:
    """Add missing people of the demo, and rebuild both slicers.

    The same `today`, `rows` and `seed` give the same rows. `progress` is told the share done, 0 to 1, and
    what is being done. A slicer is replaced whole or not at all; ImportRefused while an import writes to it.
    """
    tell, total, stored_slicers = progress or (lambda share, doing: None), 0.0, []
    tell(0.0, "adding the demo people")
    for person in PEOPLE:
        if people.get(person.username) is None:
            people.add(person, PASSWORD)
    for act in ACTS:
        part = _part(tell, total, act.share)
        stored_slicers.append(_stage(warehouse, act, today, round(rows * act.share), seed, part))
        total += act.share
    tell(1.0, "done")
    return tuple(stored_slicers)


def present(warehouse: Warehouse) -> tuple[StoredSlicer, ...]:
    """The demo's slicers that exist, whoever wrote their rows."""
    slicers = set(warehouse.slicers())
    return tuple(warehouse.open(PROJECT, act.name) for act in ACTS if (PROJECT, act.name) in slicers)


def is_invented(slicer: StoredSlicer) -> bool:
    """Whether all rows of the slicer are from `build`."""
    return all(source.name == SOURCE for import_ in slicer.imports for source in import_.sources)


def _stage(
    warehouse: Warehouse, act: Act, today: dt.date, rows: int, seed: int, progress: Progress
) -> StoredSlicer:
    what = f"{PROJECT}/{act.name}"
    progress(0.0, f"{what}: inventing {rows:,} rows")
    table = act.generate(np.random.default_rng([seed, *act.name.encode()]), today, rows)
    progress(0.35, f"{what}: writing")
    mode: Mode = "replace" if warehouse.has(PROJECT, act.name) else "create"
    with warehouse.writer(PROJECT, act.name, act.definition, act.mappings(), mode) as writer:
        writer.write(table)
        writer.commit(SOURCE, hashlib.sha256(f"{today} {rows} {seed}".encode()).hexdigest())
    progress(0.6, f"{what}: building its layout")
    slicer = warehouse.open(PROJECT, act.name)
    prepare(slicer, lambda share: progress(0.6 + 0.4 * share, f"{what}: building its layout"))
    return slicer


def _part(tell: Progress, begin: float, share: float) -> Progress:
    return lambda part, doing: tell(begin + share * part, doing)
