"""How the site is built: `sphinx-build -W --keep-going docs docs/_build/site`. It asks the network for nothing."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for site_pages

import dueto  # noqa: E402

project, author, copyright = "dueto", "the dueto developers", "the dueto developers"
release = version = dueto.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "site_pages",
]
templates_path = ["templates"]
exclude_patterns = [
    "_build",
    "gallery",
    "pictures",
    "static",
    "templates",
    "generated/gallery/*.py",
    "generated/gallery/*.ipynb",
]

# Markdown: a link to a heading is its words, as on GitHub.
myst_heading_anchors = 4

# Docstrings.
autodoc_default_options = {  # scikit-learn's, whose docstrings lead to its own pages
    "exclude-members": "get_metadata_routing, set_fit_request, set_predict_request, set_score_request"
}
autodoc_typehints = "none"  # the docstring says what is taken
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The gallery: every script draws, and is run at each build.
sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["generated/gallery"],
    "filename_pattern": r"/plot_",
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"dueto {release}"
html_show_sphinx = False
html_static_path, html_css_files = ["static"], ["site.css"]
