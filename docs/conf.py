"""Sphinx configuration of the documentation site (``make docs``).

The site is built without the network and works from ``file://``: formulas become MathML, which
browsers render without scripts, and the search index is a script beside the pages.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS / "_extensions")]

import matplotlib  # noqa: E402

matplotlib.use("Agg")

import mercer  # noqa: E402
from tools.site import api_reference, gallery_programs  # noqa: E402

project = "mercer"
author = "The mercer developers"
project_copyright = author
version = release = mercer.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "plain_docstrings",
    "mathml",
    "repository_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_extensions", "gallery/*.ipynb", "gallery/*.py.md5"]
root_doc = "index"
default_role = "py:obj"
nitpicky = False

# ---------------------------------------------------------------- pages in Markdown
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_fence_as_directive = ["math"]  # ```math is what GitHub renders as well
myst_heading_anchors = 3
html_math_renderer = "mathml"

# ---------------------------------------------------------------- API reference
autosummary_generate = False  # tools/site/api_reference.py writes a page for each public name
autodoc_typehints = "none"  # numpydoc sections state the types
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_class_members_toctree = False
viewcode_follow_imported_members = True
add_module_names = False

# ---------------------------------------------------------------- gallery of programs
PROGRAMS = DOCS / "_build" / "programs"
sphinx_gallery_conf = {
    "examples_dirs": [str(PROGRAMS)],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
    "notebook_images": False,
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": None,
}

# ---------------------------------------------------------------- appearance
html_theme = "pydata_sphinx_theme"
html_title = f"mercer {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # excerpts are fetched, which browsers refuse on file://
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "mercer"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "back_to_top_button": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "literature": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages without pages beside them; the empty column would narrow their tables.
html_sidebars = {
    page: [] for page in ("index", "get-started", "kernels", "benchmarks", "literature")
}

api_reference.write(DOCS / "api")
gallery_programs.write(ROOT / "examples", PROGRAMS)
