"""The gallery of kernels: docs/kernels.md and docs/pictures/kernels/, from the classes themselves.

`docstrings` reads what a class says of itself, `facts` asks it what it claims, `portraits` and
`families` hold the only lines written here: which kernel is drawn on what, and in which order the
page goes. `page` composes the text and `pictures` draws.
"""
