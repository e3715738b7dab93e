"""
Abstract expressions: the algebra that guides the search and proves what it found.

`NormalForm` computes with the values of tensors up to the equivalence axioms A_eq, exact in
indices; `Closure` answers whether a value can still become part of a target (A_sub). Both are
after section 4 of Wu et al., "Mirage: A Multi-Level Superoptimizer for Tensor Programs",
OSDI 2025; the modules say where they depart from it.
"""
