"""Arrays to matplotlib artists on an Axes."""
