"""Keyed functions are functions, and look random."""

import numpy as np
from modular import P, Residues

from mirage_mlir.field.keyed import keyed_words, mix


def words(name: str, key: int, values: Residues) -> Residues:
    return keyed_words(name, np.array([key], np.uint64), [values])


def test_mix_is_splitmix64() -> None:
    """The first outputs of splitmix64 from seed 0, whose state steps by the golden ratio."""
    step = 0x9E3779B97F4A7C15
    states = np.array([step, 2 * step % 2**64], np.uint64)
    assert mix(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_depends_on_name_key_and_argument() -> None:
    values = np.arange(1000, dtype=np.uint64)
    first = words("tanh", 1, values)
    assert (first == words("tanh", 1, values)).all()
    assert not (first == words("log", 1, values)).any()
    assert not (first == words("tanh", 2, values)).any()
    assert not (first[1:] == words("tanh", 1, values - np.uint64(0))[:-1]).any()


def test_both_residues_count() -> None:
    keys = np.array([5], np.uint64)
    one, two = (np.array([value], np.uint64) for value in (1, 2))
    assert keyed_words("f", keys, [one, two]) != keyed_words("f", keys, [two, one])
    assert keyed_words("f", keys, [one, two]) != keyed_words("f", keys, [one])


def test_no_more_collisions_than_chance() -> None:
    """10^6 different arguments modulo p: about n^2 / 2p = 233 pairs agree, with deviation 15."""
    values = words("f", 7, np.arange(1_000_000, dtype=np.uint64)) % np.uint64(P)
    collisions = len(values) - len(np.unique(values))
    assert 150 < collisions < 320
