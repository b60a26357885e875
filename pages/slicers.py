"""The chosen slicer: its latest figures, its fields, the top values of each."""

from lib.ui.alerts import firing
from lib.ui.frame import frame, problems
from lib.ui.slicers import explorer, screen, view_figures

here = frame.with_slicer(frame.signed_in())
firing.block(here.clients)
screen.facts(here)
with problems.reported("The latest figures"):
    screen.headline(here)
view_figures.draw(here)
explorer.explorer(here)
