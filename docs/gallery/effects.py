"""What each setting of a queue does: CoDel.

Each setting is varied alone, and an upright line at a mean is its interval. Settings
without an effect beyond chance are named in the caption, and have no panel.
"""

import fairq

found = fairq.effects("codel", rate="10Mbit/s", rtt="40ms", flows=["cubic:2"], seeds=3, duration="8s")
figure = found.plot()
