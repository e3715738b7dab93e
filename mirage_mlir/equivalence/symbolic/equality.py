"""
Decides whether forms are equal wherever guards hold.

Their difference must be zero, once free variables are brought to one shape, as those of sums are,
and the difference is multiplied by the denominators of its terms.
"""

from __future__ import annotations

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.domains import step
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import all_floors, all_variables, number
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.ranges import cancels_in_ranges
from mirage_mlir.equivalence.symbolic.terms import (
    Form,
    free_of,
    indices_of,
)

MOST_CASES = 256
"""Numbers, of a few variables together, that are looked at one by one: 0.3 s."""


class Equality:
    """Comparisons of the forms of one proof."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms

    def holds(self, a: Form, b: Form, guards: Guards) -> bool:
        """Whether two forms are equal wherever guards hold."""
        return a == b or self._vanishes(self.forms.add(a, b, -1), guards, MOST_CASES)

    def _vanishes(self, a: Form, guards: Guards, cases: int) -> bool:
        """Whether a form is zero wherever guards hold."""
        while a:
            free = free_of(a) | all_variables(each.value for each in guards)
            indices = [i for m, _ in a for i in indices_of(m.factors, m.guards)]
            change = step(indices, guards, free, self.forms.variable)
            if change is None:
                if cancels_in_ranges(a):
                    return True
                whole = self.forms.multiplied_out(a)
                cancels = whole is not a and cancels_in_ranges(whole)
                return cancels or self._vanishes_in_cases(a, guards, cases)
            moved = guards_.moved(guards, change.values)
            if moved is None or (moved := guards_.both(moved, change.conditions)) is None:
                return True
            guards, a = moved, self.forms.insert(a, change.values)
        return True

    def _vanishes_in_cases(self, a: Form, guards: Guards, cases: int) -> bool:
        """Whether a form is zero for each number that a variable in a floor or guard can be."""
        indices = [i for m, _ in a for i in indices_of(m.factors, m.guards)]
        read = all_variables(f.dividend for index in indices for f in all_floors(index))
        read |= all_variables(each.value for each in guards)
        chosen = min(read & free_of(a), key=lambda v: (v.size, v), default=None)
        if chosen is None or chosen.size > cases:
            return False
        for value in range(chosen.size):
            values = {chosen: number(value)}
            moved = guards_.moved(guards, values)
            if moved is not None:
                part = self.forms.insert(a, values)
                if not self._vanishes(part, moved, cases // chosen.size):
                    return False
        return True
