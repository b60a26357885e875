"""A sparkline below a figure, with its numbers as alternative text."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from lib.reporting.dates import Days
from lib.reporting.models import DataField, Granularity
from lib.ui.charts import theme
from lib.ui.charts.numbers import NOTHING, Numbers, days, title
from lib.ui.charts.series import Series, bucket_words

WIDTH, HEIGHT, EDGE, LEAST_SIDE = 120, 24, 1.5, 0.25
MOST_NAMED = 31
KEY = "sparkline"


def draw(course: Series, field: DataField, grain: Granularity, period: Days, numbers: Numbers) -> None:
    """Draw the sparkline; nothing with fewer than two known values."""
    if not has_course(course):
        return
    with st.container(key=f"{KEY}_{field.name}"):
        st.image(picture(course.values), width="stretch", alt=text(course, field, grain, period, numbers))


def has_course(course: Series) -> bool:
    """Whether there are two known values, between which a line can be drawn."""
    return bool(np.isfinite(course.values).sum() >= 2)


def picture(values: np.ndarray) -> str:
    """An SVG of one line per run of known values: their mean in the middle, at least 25 % to each side."""
    finite = values[np.isfinite(values)]
    mean = float(finite.mean())
    side = max(LEAST_SIDE * abs(mean), float(np.abs(finite - mean).max())) or 1.0
    low, span = mean - side, 2 * side
    across = np.linspace(EDGE, WIDTH - EDGE, len(values))
    up = HEIGHT - EDGE - (values - low) / span * (HEIGHT - 2 * EDGE)
    steps, is_first = [], True
    for x, y in zip(across.tolist(), up.tolist(), strict=True):
        if np.isfinite(y):
            steps.append(f"{'M' if is_first else 'L'}{x:.1f} {y:.1f}")
        is_first = not np.isfinite(y)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none">'
        f'<path d="{" ".join(steps)}" fill="none" stroke="{theme.ACCENT}" stroke-width="2" '
        'stroke-linejoin="round" stroke-linecap="round" vector-effect="non-scaling-stroke"/></svg>'
    )


def text(course: Series, field: DataField, grain: Granularity, period: Days, numbers: Numbers) -> str:
    """The alternative text: every value, or of many the first, the least, the greatest and the last."""
    places = np.flatnonzero(np.isfinite(course.values))
    head = f"{title(field)} by {grain}, {days(*period)}"
    if len(course) <= MOST_NAMED:
        return f"{head}: {', '.join(numbers.full(value, field) for value in course.values.tolist())}"
    points: Sequence[tuple[str, int]] = (
        ("first", places[0]),
        ("least", places[int(np.argmin(course.values[places]))]),
        ("greatest", places[int(np.argmax(course.values[places]))]),
        ("last", places[-1]),
    )
    parts = [
        f"{word} {numbers.full(course.values[at], field)} ({bucket_words(course.names[at])})"
        for word, at in points
    ]
    return f"{head}: {', '.join(parts) or NOTHING}"
