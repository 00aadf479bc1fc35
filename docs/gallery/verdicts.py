"""A paper's numbers beside ours: figure 1 of Demers, Keshav and Shenker 1990.

Curves are the formulas of the paper, as printed and as its own general relation demands; points are
simulations. All points lie on the second form: the printed one lacks a factor.
"""

import fairq

figure = fairq.reproduce("demers1990", quick=True).plot("figure1")
