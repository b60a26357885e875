"""From auctions to conversions: each step is a part of the one before it."""

from dataclasses import dataclass

import numpy as np

from lib.demo.facts import Flags, Floats, Ints, thin

LARGEST = 250_000


@dataclass(frozen=True)
class Chances:
    """Per row: of a bid to win, of an impression to be seen and to be clicked on, and who watches video."""

    win: Floats
    seen: Floats
    click: Floats
    is_video: Flags
    is_anomalous: Flags


def auctions(rng: np.random.Generator, typical: Floats, spread: float = 1.2) -> Ints:
    """Counts with a heavy tail (log-normal), at least 1, around `typical`."""
    numbers = np.exp(rng.normal(0.0, spread, len(typical))) * typical
    return 1 + np.minimum(numbers, LARGEST).astype(np.int64)


def counts(rng: np.random.Generator, bids: Ints, chances: Chances) -> dict[str, Ints]:
    """The counted data fields of rows with so many bids, named as in the specification."""
    imps = thin(rng, bids, chances.win)
    viewable = thin(rng, imps, chances.seen)
    raw_clicks = thin(rng, imps, chances.click * np.where(chances.is_anomalous, 9.0, 1.0))
    filtered = thin(rng, raw_clicks, np.where(chances.is_anomalous, 0.8, 0.01))
    clicks = raw_clicks - filtered
    clicked, viewed = thin(rng, clicks, 0.045), thin(rng, viewable, 0.0009)
    kept_clicked, kept_viewed = thin(rng, clicked, 0.94), thin(rng, viewed, 0.90)
    return {
        "bids": bids,
        "imps": imps,
        "clicks": clicks,
        "anomaly_clicks_filtered": filtered,
        "pv_convs": viewed,
        "pc_convs": clicked,
        "pv_conversions": kept_viewed,
        "pc_conversions": kept_clicked,
        "attributed_pv_convs": thin(rng, kept_viewed, 0.55),
        "attributed_pc_convs": thin(rng, kept_clicked, 0.85),
        "viewable_imps": viewable,
    } | _video(rng, np.where(chances.is_video, imps, 0))


def _video(rng: np.random.Generator, imps: Ints) -> dict[str, Ints]:
    """Video (and audio) events; only rows with such impressions are drawn."""
    rows = np.flatnonzero(imps)
    video_imps = imps[rows]
    started = thin(rng, video_imps, 0.965)
    quarter = thin(rng, started, 0.90)
    half = thin(rng, quarter, 0.92)
    three = thin(rng, half, 0.94)
    steps = {
        "vast_imp": video_imps,
        "vast_start": started,
        "vast_25": quarter,
        "vast_50": half,
        "vast_75": three,
        "vast_complete": thin(rng, three, 0.95),
        "vast_error": thin(rng, video_imps - started, 0.7),
        "vast_progress_30": thin(rng, half, 0.6),
    }
    return {name: _scatter(values, rows, len(imps)) for name, values in steps.items()}


def _scatter(values: Ints, rows: Ints, length: int) -> Ints:
    everything = np.zeros(length, np.int64)
    everything[rows] = values
    return everything
