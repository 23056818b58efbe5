"""The public readers: each opens a log directory and asks it once."""
