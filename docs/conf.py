"""Sphinx builds the site: ``sphinx-build -W --keep-going docs docs/_build``. No network is needed."""

from __future__ import annotations

from typing import Any

from docutils import nodes

from rffboost_ext import __version__

project = "rffboost-ext"
author = "the rffboost-ext developers"
project_copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
nitpicky = True
default_role = "literal"
# The inventories of other libraries are on the network, so that references to them are not resolved.
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|np|scipy|sklearn|xgboost|xgb|lightgbm|onnx|matplotlib|pandas|shap)\..*")
]

myst_enable_extensions = ["colon_fence", "dollarmath", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = f"rffboost-ext {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {
    "**": ["sidebar-nav-bs"],
    "index": [],
    "getting_started": [],
    "migration": [],
    "faq": [],
    "contributing": [],
    "changelog": [],
}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "rffboost-ext"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
}


def skip_inherited(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out members that other packages define, such as scikit-learn's `get_params`."""
    owner = getattr(getattr(member, "fget", member), "__module__", None) or "rffboost_ext"
    return None if owner.split(".")[0] in ("rffboost_ext", "onnx_export") else True


def unlink_addresses(app: Any, document: nodes.document) -> None:
    """Names such as ndcg@10 are no mail addresses."""
    for link in list(document.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(link.children)


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("doctree-read", unlink_addresses)
