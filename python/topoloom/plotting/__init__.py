"""Pictures of networks and of their floors. Matplotlib loads slowly: only what draws imports this."""

from topoloom.plotting.floors import draw_layouts
from topoloom.plotting.networks import draw_networks

__all__ = ["draw_layouts", "draw_networks"]
