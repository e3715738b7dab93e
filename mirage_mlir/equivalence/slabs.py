"""
Finds slabs: labels along which a program consists of equal parts, so that one part stands for all.

A slab axis gives every index of some dimensions of arguments a label 0 to n - 1. Both functions are
followed with all n labels through each view, load and store. If no operator combines elements of
two labels, and each element of each result has one label, at the same place for both functions,
then the elements with label l are a function of the inputs with label l and of unlabelled inputs.
If elements of two labels came through the same operators, it is the same function. So functions
that are equal for one label of each class of histories are equal for all (docs/verification.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.labels import (
    MOST_FOLLOWED,
    Index,
    Labels,
    NoSlab,
    Words,
    identity,
)
from mirage_mlir.equivalence.slab_blocks import BlockLabels
from mirage_mlir.equivalence.slab_values import Operators, Origin, Plain, Value, Wanted
from mirage_mlir.field.keyed import mix
from mirage_mlir.interpreters.operators import shape_of

MOST_WANTED = 12
"""Arguments' dimensions that are labelled for one slab axis."""

MOST_CLASSES = 8
"""Classes of labels with one history; a rotary embedding has two."""

MOST_TRIED, TRIED_OF_EACH = 24, 2
"""Slab axes tried, at least, and for each argument: a program of forty products has as many. Other
programs of the tests have up to 6 of them."""


@dataclass
class Slab:
    """One slab axis."""

    arguments: dict[Origin, Index]
    """The label of each index of the dimensions that have labels."""
    classes: list[Index]
    """Labels whose elements have one history."""
    located: dict[SSAValue, tuple[int, int]] = field(
        default_factory=dict[SSAValue, tuple[int, int]]
    )
    """Of values of the reference: the labelled dimension, and the most indices that a label has."""


def find_slabs(reference: FuncOp, candidate: FuncOp, *, sums: bool = False) -> list[Slab]:
    """
    The slab axes of two functions of one signature, any labels of which can be combined.

    With `sums` also axes over all of whose labels matmuls sum. A few labels do not stand for all
    then; but they are what the functions compute if the weights of all others are zero.
    """
    found: list[Slab] = []
    seeds = [
        ((number, dim), identity(size))
        for number, argument in enumerate(reference.body.block.args)
        for dim, size in enumerate(shape_of(argument))
        if 1 < size <= MOST_FOLLOWED
    ]
    tried: set[tuple[Origin, bytes]] = set()
    most = max(MOST_TRIED, TRIED_OF_EACH * len(reference.body.block.args))
    while seeds and len(tried) < most:
        origin, labels = seeds.pop(0)
        key = origin, sha256(labels.label.tobytes()).digest()
        if key in tried or not _independent({origin: labels.label[0]}, found):
            continue
        tried.add(key)
        search = _Search(reference, candidate, sums=sums)
        slab = search.slab(origin, labels)
        seeds += search.operators.seeds
        if slab is not None and _independent(slab.arguments, found):
            found.append(slab)
    return found


def _independent(arguments: dict[Origin, Index], slabs: Sequence[Slab]) -> bool:
    """Whether each label of one slab axis occurs with each label of the others."""
    for origin, labels in arguments.items():
        for other in (slab.arguments[origin] for slab in slabs if origin in slab.arguments):
            pairs = np.unique(np.stack([labels, other]), axis=1).shape[1]
            if pairs != (int(labels.max()) + 1) * (int(other.max()) + 1):
                return False
    return True


class _Search:
    """One attempt to label arguments."""

    def __init__(self, reference: FuncOp, candidate: FuncOp, *, sums: bool):
        self.functions = reference, candidate
        self.operators = Operators(sums=sums)

    def slab(self, origin: Origin, labels: Labels) -> Slab | None:
        """The slab axis that has these labels; None where there is none."""
        given = {origin: labels}
        for _ in range(MOST_WANTED):
            try:
                return self._followed(given)
            except Wanted as wanted:
                if wanted.origin in given or any(number == wanted.origin[0] for number, _ in given):
                    return None
                given[wanted.origin] = wanted.labels
            except NoSlab:
                return None
        return None

    def _followed(self, given: dict[Origin, Labels]) -> Slab:
        """The slab axis of labelled arguments."""
        count = _labels_of_all(given)
        located: dict[SSAValue, tuple[int, int]] = {}
        expected = self._outputs(self.functions[0], given, located)
        found = self._outputs(self.functions[1], given, {})
        histories: list[Words] = []
        for left, right in zip(expected, found, strict=True):
            if left.at != right.at:
                raise NoSlab("results have different labelled dimensions")
            if left.labels is None or right.labels is None:
                continue
            if not left.labels.agrees(right.labels):
                raise NoSlab("results have labels at different places")
            histories += [_by_label(each, count) for each in (left.labels, right.labels)]
        if not histories:
            if not self.operators.sums:
                raise NoSlab("no result has labels")
            return _without_results(given, count, located)
        _, inverse = np.unique(_folded(np.stack(histories, axis=1)), return_inverse=True)
        if inverse.max() >= MOST_CLASSES:
            raise NoSlab(f"labels have more than {MOST_CLASSES} histories")
        classes = [np.flatnonzero(inverse == number) for number in range(int(inverse.max()) + 1)]
        arguments = {origin: labels.label[0] for origin, labels in given.items()}
        return Slab(arguments, classes, located)

    def _outputs(
        self,
        function: FuncOp,
        given: dict[Origin, Labels],
        located: dict[SSAValue, tuple[int, int]],
    ) -> list[Value]:
        """The labelled results of a function."""
        values: dict[SSAValue, Value] = {}
        for number, argument in enumerate(function.body.block.args):
            values[argument] = _argument(number, shape_of(argument), given)
        for op in function.body.block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, ReturnOp):
                for value, result in values.items():
                    if result.at is not None and result.labels is not None:
                        located[value] = result.at, int(np.bincount(result.labels.label[0]).max())
                return operands
            if isinstance(op, kernel.GraphDefinedOp):
                results = BlockLabels(self.operators, op, operands).outputs()
            else:
                results = [self.operators.result(op, operands)]
            values.update(zip(op.results, results, strict=True))
        raise NoSlab("has no return")


def _without_results(
    given: dict[Origin, Labels], count: int, located: dict[SSAValue, tuple[int, int]]
) -> Slab:
    """A slab axis over which matmuls sum: all labels are alike."""
    arguments = {origin: labels.label[0] for origin, labels in given.items()}
    return Slab(arguments, [np.arange(count)], located)


def _argument(number: int, shape: Sequence[int], given: dict[Origin, Labels]) -> Value:
    dims = tuple(Plain(size, (number, dim)) for dim, size in enumerate(shape))
    for (argument, dim), labels in given.items():
        if argument == number:
            return Value(dims, dim, labels.of_argument(number))
    return Value(dims)


def _labels_of_all(given: dict[Origin, Labels]) -> int:
    """
    The number of labels.

    Raises:
        NoSlab: arguments do not have the same labels, each as often as any other.
    """
    count = 0
    for labels in given.values():
        label, inner = labels.label[0], labels.inner[0]
        own = int(label.max()) + 1
        places = np.lexsort((inner, label))
        if len(label) % own or (count and own != count):
            raise NoSlab("arguments have different labels")
        if not np.array_equal(label[places], np.repeat(np.arange(own), len(label) // own)):
            raise NoSlab("some labels have more indices than others")
        if not (inner[places].reshape(own, -1) == inner[places][: len(label) // own]).all():
            raise NoSlab("labels have different places")
        count = own
    if count < 2:
        raise NoSlab("there is one label only")
    return count


def _by_label(labels: Labels, count: int) -> Words:
    """
    The histories of each label's places in a result, in order: a word for each label.

    Raises:
        NoSlab: labels that are there have different places.
    """
    label, inner = labels.label[0], labels.inner[0]
    places = np.lexsort((inner, label))
    sorted_labels = label[places]
    present = sorted_labels[np.flatnonzero(np.diff(sorted_labels, prepend=-1))]
    each = len(label) // len(present)
    if not np.array_equal(sorted_labels, np.repeat(present, each)):
        raise NoSlab("a result has some labels more often than others")
    ordered = inner[places].reshape(len(present), -1)
    if not (ordered == ordered[:1]).all():
        raise NoSlab("labels have different places in a result")
    histories = np.zeros(count, np.uint64)
    histories[present] = _folded(labels.history[0][places].reshape(len(present), -1)) | np.uint64(1)
    return histories


def _folded(words: Words) -> Words:
    """One word for each row of words; different rows have different words but for chance."""
    return mix(words ^ mix(np.arange(words.shape[1], dtype=np.uint64))).sum(axis=1, dtype=np.uint64)
