"""One run of an audit: packets of start-time fair queueing, and when the fluid would end them.

`fairq.audit` tries a discipline on thousands of runs and keeps the one that is asked for. A line
leads from the end of each packet to its end in the fluid; outlined is the packet that is latest.
"""

import fairq

worst = max(fairq.audit("sfq", quick=True).bounds, key=lambda row: row.ratio or 0)
figure = fairq.audit("sfq", quick=True, run=worst.run).plot()
