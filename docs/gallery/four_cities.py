"""A map of a network, read from a file.

Coordinates in the file give the delays of the links, and rates stand beside them. The same file can
be the topology of a scenario.
"""

from pathlib import Path

import fairq
from fairq.topologies import maps

found = fairq.topology(Path(__file__).parents[2] / "docs" / "guide" / "four_cities.gml")
figure = maps.network("Four cities", found.node_table, found.link_table)
