"""How programs are cut, on costs that are simple enough to know the best cut."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import inf
from random import Random

import pytest

from mirage_mlir.search.multi_kernel.partition import Partitioner, never
from mirage_mlir.search.multi_kernel.partition_state import Operator, OperatorGroup, Partition

LAUNCH = 1.0


@dataclass
class Costs:
    """A launch, work and bytes; parts with too many heavy operators are impossible."""

    operators: Sequence[Operator]
    work: Sequence[float]
    moved: float = 0.1
    """Seconds for each value that is read or stored."""
    heavy: frozenset[int] = frozenset()
    most_heavy: int = 1
    possible: Callable[[OperatorGroup], bool] = lambda part: True
    asked: list[OperatorGroup] = field(default_factory=list[OperatorGroup])
    prepared: list[OperatorGroup] = field(default_factory=list[OperatorGroup])

    def seconds(self, part: OperatorGroup, most: float = inf) -> float:
        self.asked.append(part)
        if len(self.heavy.intersection(part.operators)) > self.most_heavy or not self.possible(
            part
        ):
            return inf
        return self.least(part) + sum(self.work[number] for number in part.operators)

    def least(self, part: OperatorGroup) -> float:
        return LAUNCH + self.moved * (len(read(self.operators, part)) + len(part.results))

    def bound(self, part: OperatorGroup) -> float:
        return self.least(part)

    def prepare(self, parts: Sequence[OperatorGroup]) -> None:
        self.prepared += parts


def read(operators: Sequence[Operator], part: OperatorGroup) -> set[int]:
    inside = set(part.operators)
    return {v for number in part.operators for v in operators[number].operands} - inside


def chain(*operands: tuple[int, ...], kept: Sequence[int] = ()) -> list[Operator]:
    last = len(operands) - 1
    return [Operator(o, kept=n in (last, *kept)) for n, o in enumerate(operands)]


def check_valid(operators: Sequence[Operator], parts: Sequence[OperatorGroup]) -> None:
    """Everything kept is stored once, and each part comes after what it reads."""
    stored: set[int] = set()
    for part in parts:
        assert set(part.results) <= set(part.operators)
        assert read(operators, part) <= stored
        assert not stored.intersection(part.results)
        stored |= set(part.results)
    kept = {n for n, operator in enumerate(operators) if operator.kept or operator.fixed}
    assert kept <= stored


def total(costs: Costs, parts: Sequence[OperatorGroup]) -> float:
    return sum(costs.seconds(part) for part in parts)


def cut(operators: Sequence[Operator], costs: Costs) -> list[OperatorGroup]:
    parts = Partitioner(operators, costs).run()
    check_valid(operators, parts)
    return parts


@pytest.fixture(autouse=True)
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a launch is a second: a part without a kernel must count for more."""
    monkeypatch.setattr("mirage_mlir.search.multi_kernel.partition.UNKNOWN", 1e6)


def test_a_chain_is_one_part() -> None:
    operators = chain((), (0,), (1,), (2,))
    assert cut(operators, Costs(operators, [0.1] * 4)) == [OperatorGroup((0, 1, 2, 3), (3,))]


def test_elementwise_operators_are_one_part_at_once() -> None:
    """Also where a value is read twice in it: no cut of it is costed."""
    operands = [(), (0,), (1,), (1, 2), (3,), (3, 4)]
    operators = [Operator(o, n == 5, elementwise=(4, 8)) for n, o in enumerate(operands)]
    costs = Costs(operators, [0.1] * 6)
    assert cut(operators, costs) == [OperatorGroup(tuple(range(6)), (5,))]
    assert not [part for part in costs.asked if len(part.operators) < 6]


def test_elementwise_operators_that_others_read_are_costed() -> None:
    """0 is read by parts that are kept apart, 1 at other places, 3 by no elementwise operator."""
    shapes = [(4, 8), (4, 1), (4, 8), (4, 8), None]
    operands = [(), (0,), (0, 1), (2,), (3,)]
    operators = [
        Operator(o, kept=n in (1, 4), elementwise=shape)
        for n, (o, shape) in enumerate(zip(operands, shapes, strict=True))
    ]
    costs = Costs(operators, [5, 0.1, 0.1, 0.1, 0.1])
    parts = cut(operators, costs)
    assert OperatorGroup((0,), (0,)) in costs.asked
    assert OperatorGroup((2, 3), (3,)) in costs.asked
    assert OperatorGroup((2,), (2,)) not in costs.asked
    assert [number for part in parts for number in part.operators].count(0) == 1


def test_a_cheap_value_is_computed_by_each_reader() -> None:
    # 0 is read by two heavy operators whose results are added: three parts become two.
    operators = chain((), (0,), (0,), (1, 2))
    costs = Costs(operators, [0.1, 0, 0, 0], heavy=frozenset({1, 2}))
    parts = cut(operators, costs)
    assert len(parts) == 2
    assert all(0 in part.operators for part in parts)


def test_a_costly_value_is_stored() -> None:
    operators = chain((), (0,), (0,), (1, 2))
    costs = Costs(operators, [5, 0, 0, 0], heavy=frozenset({1, 2}))
    parts = cut(operators, costs)
    assert [number for part in parts for number in part.operators].count(0) == 1


def test_kept_values_are_stored() -> None:
    operators = chain((), (0,), (1,), kept=[1])
    parts = cut(operators, Costs(operators, [0.1] * 3))
    assert parts == [OperatorGroup((0, 1, 2), (1, 2))]


def test_fixed_operators_stay_alone() -> None:
    operators = [
        Operator(()),
        Operator((0,), fixed=True),
        Operator((1,)),
        Operator((2,), kept=True),
    ]
    operators[0] = Operator((), kept=True)
    parts = cut(operators, Costs(operators, [0.1] * 4))
    assert parts == [
        OperatorGroup((0,), (0,)),
        OperatorGroup((1,), (1,)),
        OperatorGroup((2, 3), (3,)),
    ]


def test_two_values_are_dropped_where_one_alone_cannot_be() -> None:
    # Both operands of 2 or none: a part with one of them only is impossible.
    operators = chain((), (), (0, 1))
    costs = Costs(operators, [0.1] * 3, possible=lambda part: len(part.operators) != 2)
    assert cut(operators, costs) == [OperatorGroup((0, 1, 2), (2,))]


def test_another_value_is_stored_in_place_of_its_neighbour() -> None:
    # 1 and 2 seem to belong together, but then neither 0 nor 3 can be with them.
    operators = chain((), (0,), (1,), (2,))
    parts = {(1, 2), (0, 1), (2, 3)}

    class Misleading(Costs):
        def seconds(self, part: OperatorGroup, most: float = inf) -> float:
            if len(part.operators) > 1 and part.operators not in parts:
                return inf
            return super().seconds(part) - (0.05 if part.operators == (1, 2) else 0)

    work = Misleading(operators, [0.5, 0.1, 0.1, 0.5])
    assert cut(operators, work) == [OperatorGroup((0, 1), (1,)), OperatorGroup((2, 3), (3,))]


def test_readers_of_one_value_are_joined() -> None:
    operators = [Operator((), kept=True), Operator((0,), kept=True), Operator((0,), kept=True)]
    costs = Costs(operators, [0.1] * 3, possible=lambda part: 0 not in part.operators[:-1])
    assert cut(operators, costs) == [OperatorGroup((0,), (0,)), OperatorGroup((1, 2), (1, 2))]


def test_parts_are_not_joined_around_a_third() -> None:
    # 0 and 2 both read nothing but 2 needs 1, which no part may hold with others.
    operators = [
        Operator((), kept=True),
        Operator((0,), kept=True),
        Operator((0, 1), kept=True),
    ]
    costs = Costs(
        operators,
        [0.1] * 3,
        possible=lambda part: 1 not in part.operators or part.operators == (1,),
    )
    assert len(cut(operators, costs)) == 3
    assert OperatorGroup((0, 2), (0, 2)) not in costs.asked


def random_program(seed: int, count: int) -> tuple[list[Operator], Costs]:
    random = Random(seed)
    operators: list[Operator] = []
    for number in range(count):
        near = range(max(0, number - 4), number)
        operands = tuple(sorted(random.sample(near, min(len(near), random.choice([1, 1, 2])))))
        operators.append(Operator(operands))
    used = {v for operator in operators for v in operator.operands}
    operators = [
        Operator(o.operands, kept=n not in used or random.random() < 0.1)
        for n, o in enumerate(operators)
    ]
    heavy = frozenset(random.sample(range(count), count // 3))
    work = [random.choice([0.05, 0.3]) + 2 * (n in heavy) for n in range(count)]
    return operators, Costs(operators, work, heavy=heavy)


def best_of_all(operators: Sequence[Operator], costs: Costs) -> float:
    """The least time over all sets of stored values, one part for each value."""
    kept = [n for n, operator in enumerate(operators) if operator.kept]
    free = [n for n in range(len(operators)) if n not in kept]
    best = inf
    for count in range(len(free) + 1):
        for chosen in combinations(free, count):
            stored = {*kept, *chosen}
            best = min(best, sum(costs.seconds(part_of(operators, stored, v)) for v in stored))
    return best


def part_of(operators: Sequence[Operator], stored: set[int], value: int) -> OperatorGroup:
    inside: set[int] = set()
    pending = [value]
    while pending:
        number = pending.pop()
        inside.add(number)
        pending += [v for v in operators[number].operands if v not in stored and v not in inside]
    return OperatorGroup(tuple(sorted(inside)), (value,))


def test_random_programs_come_close_to_the_best() -> None:
    ratios: list[float] = []
    for seed in range(60):
        operators, costs = random_program(seed, 10)
        parts = cut(operators, costs)
        # Joined parts may be better than any cut into parts with one result each.
        ratios.append(total(costs, parts) / best_of_all(operators, costs))
    assert max(ratios) < 1.25
    assert sum(ratio < 1.0001 for ratio in ratios) > 45


def layers(count: int) -> tuple[list[Operator], Costs]:
    """Layers of two heavy operators and six light ones around a residual."""
    operators: list[Operator] = [Operator(())]
    heavy: set[int] = set()
    for _ in range(count):
        x = len(operators) - 1
        operators += [
            Operator((x,)),
            Operator((x + 1,)),
            Operator((x + 2,)),
            Operator((x, x + 3)),
            Operator((x + 4,)),
            Operator((x + 5,)),
            Operator((x + 6,)),
            Operator((x + 4, x + 7)),
        ]
        heavy |= {x + 2, x + 6}
    operators[-1] = Operator(operators[-1].operands, kept=True)
    work = [2.0 if n in heavy else 0.05 + 0.01 * ((n - 1) % 8) for n in range(len(operators))]
    return operators, Costs(operators, work, heavy=frozenset(heavy))


def test_equal_layers_are_cut_equally() -> None:
    operators, costs = layers(6)
    parts = cut(operators, costs)
    shapes = [tuple((n - 1) % 8 for n in part.operators) for part in parts]
    middle = shapes[2:-2]
    assert len(set(middle)) == 2
    assert middle[::2] == [middle[0]] * len(middle[::2])


def test_work_grows_as_the_program_does() -> None:
    asked: list[int] = []
    for count in (4, 8, 16, 32):
        operators, costs = layers(count)
        cut(operators, costs)
        asked.append(len(costs.asked))
    steps = [later - earlier for earlier, later in pairwise(asked)]
    assert steps[1] <= 2.05 * steps[0]
    assert steps[2] <= 2.05 * steps[1]


def test_the_best_so_far_when_time_is_over() -> None:
    operators, costs = layers(4)
    whole = total(costs, Partitioner(operators, costs).run())
    alone = total(costs, Partition(operators).in_order())
    times = [alone]
    for steps in (0, 5, 20, 40, 60, 1000):
        left = iter(range(steps))
        partitioner = Partitioner(operators, costs, lambda left=left: next(left, None) is None)
        parts = partitioner.run()
        check_valid(operators, parts)
        times.append(total(costs, parts))
        assert partitioner.cut == (steps < 1000)
    assert times == sorted(times, reverse=True)
    assert times[1] == alone > times[3] > times[-1] == whole


def test_what_is_costed_first_is_announced() -> None:
    operators, costs = layers(1)
    Partitioner(operators, costs, never).run()
    assert [part for part in costs.prepared if len(part.operators) == 1] == [
        OperatorGroup((n,), (n,)) for n in range(len(operators))
    ]
    assert OperatorGroup((1, 2), (2,)) in costs.prepared
    assert len(set(costs.prepared)) == len(costs.prepared)
