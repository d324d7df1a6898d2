"""Parts of the documentation site that are generated: the API reference and the gallery.

`api_reference` writes a page for each public name and an index for each package, `gallery_programs`
prepares the programs of examples/ for sphinx-gallery, and `browser` opens the built site.
"""
