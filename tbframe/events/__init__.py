"""Event files to columns: framing, checksums, decoding. NumPy and protobuf; no frames."""
