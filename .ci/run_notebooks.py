"""Run every notebook of a folder; any error fails."""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

for path in sorted(Path(sys.argv[1]).glob("*.ipynb")):
    print(path.name, flush=True)
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
