"""
What the operators of the kernel and the threadblock dialect are, one row each.

`elementwise` has the columns of an elementwise operator and `table` the rows, which say everything
of it. `structured` has columns and rows of reductions, norms, products and views: what follows from
the dimensions that they run over. Dialects, interpreters, the search and the lowering read the
rows; nothing here knows any of them.
"""
