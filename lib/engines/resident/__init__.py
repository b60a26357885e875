"""The resident engine: memory-mapped codes and measures, a sparse product, an honest sample."""

from lib.engines.resident.build import build as prepare
from lib.engines.resident.engine import ResidentEngine, repair

__all__ = ["ResidentEngine", "prepare", "repair"]
