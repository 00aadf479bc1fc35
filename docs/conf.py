"""How the site is built from the pages: `make docs`, offline, with warnings as errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "python")]
# what runs in the notebooks' kernels finds the same package
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(HERE.parent / "python"), os.environ.get("PYTHONPATH"))))

project = "fairq"
author = "the authors of fairq"
project_copyright = author
extensions = [
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "docstrings",
    "page_links",
    "gallery",
    "titles",
]
exclude_patterns = ["_extensions", "_static", "guide/README.md.orig"]
html_theme = "pydata_sphinx_theme"
html_title = "fairq"
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# what the reader's system prefers, until the reader chooses
html_context = {"default_mode": "auto"}
# no bar beside a page without pages below it
html_sidebars = {page: [] for page in ("index", "limits", "gallery/index", "search")}
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

myst_enable_extensions = ["colon_fence", "deflist"]
# the anchors that a code host gives headings
myst_heading_anchors = 6

nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "target" / "docs" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 120
# what a notebook writes is no page
nb_execution_in_temp = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
suppress_warnings = ["misc.highlighting_failure"]
