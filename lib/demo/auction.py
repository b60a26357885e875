"""The auctions of `delivery`: which ad met which site, and the results."""

from dataclasses import dataclass

import numpy as np

from lib.demo import stories
from lib.demo.demand import Rates, creative_weights, creatives, rates
from lib.demo.draw import Flags, Floats, Ints, cents, pick_by
from lib.demo.facts import agents
from lib.demo.funnel import Chances, auctions, counts
from lib.demo.scene import Scene, markets
from lib.demo.supply import SEEN, site_weights, sites, visibility_weights

NOTHING_BID = 0.09
TYPICAL_AUCTIONS = 30.0
DAILY_NOISE = 0.06
_VAST = ("video", "audio")


@dataclass(frozen=True)
class Auctions:
    """Per row: the scene, the site, how its ad is placed, the creative, and whether anybody bid."""

    scene: Scene
    site: Ints
    visibility: Ints
    creative: Ints
    sold: Flags


def hold(rng: np.random.Generator, scene: Scene) -> Auctions:
    """Combine supply and demand: sites by country and platform, creatives by week as well."""
    site = pick_by(rng, site_weights(), scene.market)
    visibility = pick_by(rng, visibility_weights(rng), site)
    week_and_market = (scene.hour // 168) * markets() + scene.market
    creative = pick_by(rng, creative_weights(rng), week_and_market)
    return Auctions(scene, site, visibility, creative, rng.random(scene.rows) >= NOTHING_BID)


def results(rng: np.random.Generator, held: Auctions) -> dict[str, Ints | Floats]:
    """All data fields as numbers per row; zero but for `nobids` where nobody bid."""
    busy = rng.lognormal(0.0, 0.25, len(sites()))
    asked = auctions(rng, TYPICAL_AUCTIONS * busy[held.site])
    terms = rates(rng)
    counted = counts(rng, np.where(held.sold, asked, 0), _chances(rng, held, terms))
    paid = _money(rng, held, terms, counted)
    return counted | {"nobids": np.where(held.sold, 0, 2 * asked)} | paid


def _money(
    rng: np.random.Generator, held: Auctions, terms: Rates, counted: dict[str, Ints]
) -> dict[str, Ints | Floats]:
    """Amounts in dollars: bids, won bids, what the advertiser pays, and what the publisher gets."""
    rows = held.scene.rows
    price = terms.price[held.creative] * held.scene.spending * rng.lognormal(0.0, 0.2, rows) / 1000
    won = price * rng.uniform(0.85, 1.0, rows) * counted["imps"]
    share = rng.uniform(0.76, 0.93, len(sites()))
    return {
        "bid_amount": cents(price * counted["bids"]),
        "win_bid_amount": cents(won),
        "payout.adv_payout": cents(won * terms.markup[held.creative]),
        "payout.actual_pub": cents(won * share[held.site]),
    }


def _chances(rng: np.random.Generator, held: Auctions, terms: Rates) -> Chances:
    scene, user = held.scene, held.scene.user
    kind = np.array([site.kind for site in sites()])[held.site]
    of_publisher = np.array([site.publisher.id == stories.PUBLISHER for site in sites()])[held.site]
    in_browser = np.array([agent.browser == stories.BROWSER for agent in agents()])
    is_video = np.array([creative.campaign.tag_type in _VAST for creative in creatives()])
    seen = np.where(kind == "tv", 0.96, SEEN[held.visibility]) * rng.normal(1.0, 0.04, scene.rows)
    win_rate = rng.beta(6.0, 24.0, len(sites())) * rng.normal(1.0, DAILY_NOISE, (stories.DAYS, len(sites())))
    handling = np.where(kind == "tv", 0.05, np.where(scene.platform == 1, 1.3, 1.0))
    return Chances(
        win=win_rate[scene.hour // 24, held.site] * stories.win_rate_left(scene.hour, of_publisher),
        seen=seen * stories.viewability_left(in_browser[scene.population.agent[user]]),
        click=terms.click[held.creative] * handling,
        is_video=is_video[held.creative],
        is_anomalous=scene.population.anomaly[user] > 0,
    )
