"""Tables of texts among which some are figures."""

from collections.abc import Collection, Hashable

import pandas as pd
from pandas.io.formats.style import Styler


def with_figures(frame: pd.DataFrame, titles: Collection[str]) -> Styler:
    """The table for `st.table`, with the columns of these titles to the right."""
    columns: list[Hashable] = [title for title in frame.columns if title in titles]
    return frame.style.set_properties(subset=columns, **{"text-align": "right"})
