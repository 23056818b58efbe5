"""Verbs on frames and datasets: plain functions behind the ``.tb`` accessors."""
