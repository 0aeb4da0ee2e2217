"""Settings of the documentation: ``make docs`` builds it into out/docs, without a network and without warnings."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import deddqn  # noqa: E402

project = "deddqn"
author = "The deddqn authors"
project_copyright = author
version = release = deddqn.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "tools.docs.extension"]
exclude_patterns = ["_build"]
suppress_warnings = ["myst.header"]

# Markdown that a code host shows, too: headings are link targets, code blocks keep plain languages.
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4

# Names between single back quotes link to the reference where it has them and are code elsewhere.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [("py:obj", r".*"), ("py:.*", r"(?!deddqn).*")]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"deddqn {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/mark.svg"
html_copy_source = False
html_theme_options = {
    "light_logo": "mark.svg",
    "dark_logo": "mark.svg",
    "light_css_variables": {"color-brand-primary": "#0b6e6e", "color-brand-content": "#0b6e6e"},
    "dark_css_variables": {"color-brand-primary": "#5cc8c0", "color-brand-content": "#5cc8c0"},
}
