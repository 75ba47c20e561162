"""Readers of state machines: files of modelling tools in, :class:`whence.model.chart.Chart` out."""
