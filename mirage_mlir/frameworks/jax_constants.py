"""What a function of JAX computes from no input: JAX computes it once, beforehand."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

jax: Any = import_module("jax")
"""Untyped: an optional dependency."""

Jaxpr: Any = import_module("jax.extend.core").Jaxpr

_NO_NAMES: Any = jax.make_jaxpr(lambda: ())().jaxpr.debug_info.with_unknown_names()
"""What JAX wants to know of a program, for its messages."""

_CALLS = ("jit", "pjit")
"""Operations that call a function, and compute nothing else."""


def with_constants(traced: Any) -> Any:
    """
    A traced function whose tables of numbers are constants, as `consts` of what is returned.

    A bias or a rotary table that is made of indices is one. Left as they are: integers and masks,
    of which formulas say more, single numbers, tensors all of whose elements are one number, and
    those with infinities, which are masks, too.
    """
    folding = _Folding()

    def program(*values: Any) -> Any:
        return folding.run(traced.jaxpr, traced.consts, values)

    made = jax.make_jaxpr(program)(*traced.in_avals)
    return made if folding.found or folding.counts else traced


def steps_of(value: Any) -> tuple[int, int] | None:
    """The first of a vector of whole numbers and their distance; None where it is not the same."""
    if value.ndim != 1 or value.size < 2 or not jax.numpy.issubdtype(value.dtype, np.integer):
        return None
    numbers = np.asarray(value, np.int64)
    start, step = int(numbers[0]), int(numbers[1] - numbers[0])
    even = bool((numbers == start + step * np.arange(numbers.size)).all())
    return (start, step) if even else None


class _Folding:
    """Runs a program, with values that are known and others; `found` has the tables among them."""

    def __init__(self) -> None:
        self.found: dict[object, Any] = {}
        self.counts = False
        """Whether an array that the function captured is made of indices instead."""

    def run(self, jaxpr: Any, consts: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """The results for `values`, of which those in a `_Known` are known."""
        known = [self._counted(each) for each in consts]
        scope: dict[Any, Any] = dict(zip(jaxpr.constvars, known, strict=True))
        scope.update(zip(jaxpr.invars, values, strict=True))

        def read(variable: Any) -> Any:
            # Numbers that the program has are operands themselves.
            return variable.val if hasattr(variable, "val") else scope[variable]

        for equation in jaxpr.eqns:
            given = [*map(read, equation.invars)]
            if _is_free(equation, given):
                results: Sequence[Any] = _known(equation, given)
            elif equation.primitive.name in _CALLS:
                called = equation.params["jaxpr"]
                results = self.run(called.jaxpr, called.consts, given)
            else:
                results = _staged(equation, [*map(self.value, given)])
            scope.update(zip(equation.outvars, results, strict=True))
        return [self.value(read(variable)) for variable in jaxpr.outvars]

    def _counted(self, value: Any) -> Any:
        """Whole numbers in even steps, which a kernel counts itself, as such; else `value`."""
        steps = steps_of(value)
        if steps is None:
            return value
        self.counts = True
        start, step = steps
        size = value.shape[0]
        formula = start + step * jax.lax.iota(value.dtype, size)
        return _Known.counted(value, formula)

    def value(self, value: Any) -> Any:
        """What operations are staged with: a table itself, and the formula of anything else."""
        if not isinstance(value, _Known):
            return value
        if not value.is_table():
            return value.formula()
        # Once where one table is made twice: each is an input.
        elements = np.asarray(value.array)
        key = elements.shape, str(elements.dtype), elements.tobytes()
        return self.found.setdefault(key, value.array)


class _Known:
    """A value that depends on no input: its elements, and the operation that computes it."""

    def __init__(self, array: Any, equation: Any, given: Sequence[Any], number: int) -> None:
        self.array = array
        self._equation, self._given, self._number = equation, given, number
        self._formula: Any = None

    @classmethod
    def counted(cls, array: Any, formula: Any) -> Any:
        """Elements that no operation of the program computes, with a formula for them."""
        made = cls(array, None, (), 0)
        made._formula = formula
        return made

    def is_table(self) -> bool:
        """Whether the elements are numbers of which no formula is worth more."""
        if not jax.numpy.issubdtype(self.array.dtype, jax.numpy.floating) or self.array.size < 2:
            return False
        elements = np.asarray(self.array, np.float64)
        return bool(np.isfinite(elements).all()) and bool((elements != elements.flat[0]).any())

    def formula(self) -> Any:
        """The same, staged."""
        if self._formula is None:
            given = [each.formula() if isinstance(each, _Known) else each for each in self._given]
            self._formula = _staged(self._equation, given)[self._number]
        return self._formula


def _is_free(equation: Any, given: Sequence[Any]) -> bool:
    """Whether an operation depends on no input, and does nothing but compute."""
    return not equation.effects and all(isinstance(e, _Known) or _is_number(e) for e in given)


def _is_number(value: Any) -> bool:
    return not isinstance(value, jax.core.Tracer) and np.ndim(value) == 0


def _known(equation: Any, given: Sequence[Any]) -> list[_Known]:
    arrays = [each.array if isinstance(each, _Known) else each for each in given]
    # Also where the function is called while another one is traced.
    with jax.ensure_compile_time_eval():
        results = _staged(equation, arrays)
    return [_Known(each, equation, given, number) for number, each in enumerate(results)]


def _staged(equation: Any, given: Sequence[Any]) -> list[Any]:
    """The results of one operation, which keeps its line of the user's."""
    values = {
        variable: value
        for variable, value in zip(equation.invars, given, strict=True)
        if not hasattr(variable, "val")
    }
    alone = Jaxpr([], [*values], equation.outvars, [equation], debug_info=_NO_NAMES)
    return jax.core.eval_jaxpr(alone, (), *values.values())
