"""The chosen slicer: its latest figures, its fields, the top values of each."""

from lib.ui.admin import firing
from lib.ui.explore import explorer, screen, view_figures
from lib.ui.kit import frame, problems

here = frame.with_slicer(frame.signed_in())
firing.block(here.clients)
screen.facts(here)
with problems.reported("The latest figures"):
    screen.headline(here)
view_figures.draw(here)
explorer.explorer(here)
