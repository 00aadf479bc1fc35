"""CUBIC driven alone, round by round.

There is no network: named scenes say what each round brings, a loss or a mark. The curves are what
the control keeps, as its window.
"""

import fairq
from fairq import figures

figure = figures.scenes(fairq.scenes("cubic"), "CUBIC, driven alone")
