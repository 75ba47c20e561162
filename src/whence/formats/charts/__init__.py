"""Charts (:mod:`whence.model.chart`) as texts."""
