"""Sphinx configuration."""

import tbframe

project = "tbframe"
author = "The tbframe developers"
copyright = "2026, the tbframe developers"
version = release = tbframe.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "tbframe"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"
default_role = "code"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
