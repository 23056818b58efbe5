"""The house: arrows point down, nothing imports the top package, importing is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tbframe

ROOT = Path(tbframe.__file__).parent
LAYERS = [
    ["errors", "names", "documenting"],
    ["storage"],
    ["events", "discovery"],
    ["restarts", "buckets", "series"],
    ["kinds"],
    ["verbs"],
    ["log_files"],
    ["logdir"],
    ["readers", "samples"],
    ["plotting"],
    ["accessors", "backend"],
    ["cli"],
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in ROOT.rglob("*.py")
    }


def imports(path: Path, known: set[str]) -> set[str]:
    """The modules of the package that a module names in its imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "tbframe"}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            if node.module and node.module.split(".")[0] == "tbframe":
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {name if name in known else node.module for name in inner}
    return found


def part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_every_part_has_a_layer():
    assert {part(module) for module in modules()} - {""} <= set(RANK)


@pytest.mark.parametrize("module", sorted(modules()))
def test_arrows_point_down(module):
    if module == "tbframe":
        return
    for target in imports(modules()[module], set(modules())):
        assert target != "tbframe", f"{module} imports the top package"
        assert RANK[part(target)] <= RANK[part(module)], f"{module} imports {target}, which lies above it"


def test_there_is_no_cycle():
    graph = {module: imports(path, set(modules())) for module, path in modules().items()}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail, module))
        if module not in done:
            for target in graph[module] - {module}:
                visit(target, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_brings_neither_matplotlib_nor_protobuf():
    code = "import sys, tbframe; print(*{'matplotlib', 'tqdm', 'fsspec', 'google.protobuf'} & set(sys.modules))"
    assert run(code) == ""


def test_reading_scalars_of_torch_needs_no_protobuf():
    code = "import sys, tbframe; tbframe.scalars(tbframe.sample_logs(), restarts='keep'); print('google.protobuf' in sys.modules)"
    assert run(code) == "False"


def test_public_names_are_sorted_and_documented():
    assert tbframe.__all__ == sorted(tbframe.__all__)
    for name in tbframe.__all__:
        assert (getattr(tbframe, name).__doc__ or "").strip(), name
