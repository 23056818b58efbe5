"""Benchmarks: tbframe against other readers, and how its costs grow. Off by default; docs/benchmarks.md says how to run them."""
