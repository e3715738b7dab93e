"""
What the operators of the kernel and the threadblock dialect are, one row each.

`elementwise` has the columns of an elementwise operator, `table` the rows; `structured` those of
reductions, views and products. Dialects, interpreters, the search and the lowering read the rows;
nothing here knows any of them.
"""
