"""Slicers whose rows lie in somebody's database: asked there, and never copied.

Everything that imports Ibis lies in this folder, so that another compiler of queries can take its place.
"""

from lib.engines.connected.connections import Connections
from lib.engines.connected.engine import IbisEngine
from lib.engines.connected.live import LiveSlicers

__all__ = ["Connections", "IbisEngine", "LiveSlicers"]
