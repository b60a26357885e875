"""What can be asked of the chosen slicer: its latest figures, its fields, the top values of each."""

from lib.ui import exploration, explorer, frame, problems

here = frame.with_slicer(frame.signed_in())
exploration.facts(here)
with problems.told("The latest figures"):
    exploration.headline(here)
explorer.explorer(here)
