"""The demo that ships: two slicers, and three people who may see them.

`stories.py` says what can be found in it, `cast.py` names the invented firms, `stage.py` puts it on disk.

The last day is today (UTC) and, like all others, whole: its hours are all there, those to come as well, so
that a demo of yesterday does not end in a cliff.
"""

from lib.demo.stage import build

__all__ = ["build"]
