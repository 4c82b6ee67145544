"""
Altitude and temperature
========================

Weather stations stand at different heights, and the high ones are cold. Everybody knows which is due to the other:
carry a thermometer up a mountain and it falls; heat a thermometer and it does not sink. Can two columns of numbers
tell?

The stations below are simulated, by what is known of the air: it cools by about 5.5 degrees a kilometre, and places
at one height differ by a degree or so for other reasons. At the end stand 349 stations that were measured, and they
are less tidy.
"""

import numpy as np

import dueto

# %%
# Stations
# --------
# Few stations stand high, so altitude is skewed. That matters, as will be seen.

rng = np.random.default_rng(1)
altitude = 30 + rng.gamma(shape=1.2, scale=350, size=350)  # metres
temperature = 9.8 - 0.0055 * altitude + rng.normal(0, 0.8, size=350)  # degrees, mean of the year

found = dueto.direction(altitude, temperature, names=("altitude", "temperature"))
print(found)

# %%
# The page of one pair: both fits, what either leaves over, and the tests.

dueto.plots.plot_direction(found)

# %%
# Look at the residuals. Those of temperature, given the altitude, have the same spread at every height. Those of
# altitude, given the temperature, do not: where it is warm, nearly all stations are low; where it is cold, they may
# be anywhere. No curve mends that, and the test sees it.
#
# What cannot be told
# -------------------
# Were altitude normally distributed, a straight line with normal noise would fit either way equally well. That is a
# theorem. The right answer is then `?`, and so it is:

normal = rng.normal(450, 150, size=350)
cooler = 9.8 - 0.0055 * normal + rng.normal(0, 0.8, size=350)
print(dueto.direction(normal, cooler, names=("altitude", "temperature")))

# %%
# Stations that were measured
# ---------------------------
# The first of the Tübingen pairs holds 349 stations of the German weather service. It does not ship; see
# :doc:`/guides/data`. With the files in a folder that ``DUETO_DATA`` names::
#
#     >>> import dueto
#     >>> pair = dueto.datasets.load_tuebingen_pairs()[0]
#     >>> pair
#     <Pair pair0001: Altitude -> Temperature, 349 rows>
#     >>> found = dueto.direction(pair.x, pair.y, names=pair.names)
#     >>> found.arrow, found.forward.pvalue < 0.05, found.backward.pvalue
#     ('?', True, 0.001)
#
# Neither way leaves an independent residual: real places differ by more than height, and by more in the mountains.
# The way from temperature to altitude is worse, but "less bad" is no arrow. Who knows that one of the two causes the
# other may say so::
#
#     >>> dueto.direction(pair.x, pair.y, names=pair.names, known_related=True).arrow
#     '->'
#
# That is the right answer, and a weak one: with three of four seeds it is ``->``, with the fourth (``rng=3``) both
# p-values are at their least, and it is `?` again::
#
#     >>> [dueto.direction(pair.x, pair.y, known_related=True, rng=seed).arrow for seed in range(4)]
#     ['->', '->', '->', '?']
#
# How often arrows on measured pairs are right is told in :doc:`/benchmarks`, and what they assume in
# :doc:`/explanation/directions`.
