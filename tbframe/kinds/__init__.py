"""One file per kind of summary: rows of values to a DataFrame or Dataset."""
