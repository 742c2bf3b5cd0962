"""JavaScript of code that runs in browsers: inputs and filters of site functions."""

from hoglet.hog.javascript.library import library_source
from hoglet.hog.javascript.program import (
    JavaScript,
    expression_javascript,
    program_javascript,
    template_javascript,
)
from hoglet.hog.javascript.site import SiteMapping, site_function_javascript
from hoglet.hog.javascript.strip_types import transpile_site_source

__all__ = [
    "JavaScript",
    "SiteMapping",
    "expression_javascript",
    "library_source",
    "program_javascript",
    "site_function_javascript",
    "template_javascript",
    "transpile_site_source",
]
