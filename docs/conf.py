"""How Sphinx builds the documentation: ``python -m sphinx -W -b html docs docs/_build``."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '_ext'))

from fuel import __version__

project = 'Fuel'
author = 'the developers of Fuel'
copyright = author
version = release = __version__

extensions = ['sphinx.ext.autodoc', 'sphinx.ext.autosummary', 'sphinx.ext.mathjax', 'numpydoc',
              'pictures', 'sheets']
exclude_patterns = ['_build', 'changes/next']
default_role = 'autolink'
language = 'en'

html_theme = 'alabaster'
html_theme_options = {
    'description': 'Data pipelines for machine learning',
    'fixed_sidebar': True,
    'page_width': '1060px',
}
html_static_path = []

autodoc_member_order = 'groupwise'
autodoc_typehints = 'none'                # the docstrings say it
autodoc_default_options = {'show-inheritance': True}
autosummary_generate = False              # the tables link into the same page
numpydoc_show_class_members = False       # autodoc lists the members
