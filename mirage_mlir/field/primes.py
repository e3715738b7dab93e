"""
The primes of random tests: p = 2 q + 1 with p and q prime, drawn anew for each test.

Z_p then has elements of order q, so that `exp(x) = w^x` maps residues modulo q to residues modulo
p. A number that is no zero may be a multiple of p; as the primes are drawn, that is as unlikely as
everything else (see `bounds`).
"""

from __future__ import annotations

import numpy as np

LOWEST_Q = 1 << 24
"""q is drawn from here up to twice this number, so that residues of p have 25 to 26 bits: products
of a residue and of half a residue are summed exactly by float64 for up to 16,384 terms."""

PRIMES = 73_658
"""How many q from `LOWEST_Q` to below `2 * LOWEST_Q` are prime with `2 * q + 1` (counted)."""

BITS = 25
"""Every p is larger than 2^25: a number below 2^(25 n) has fewer than n of them as divisors."""

WITNESSES = (2, 3, 5, 7)
"""Strong pseudoprimes to all four are above 3.2e9 (Jaeschke, Math. Comp. 61, 1993)."""


def is_prime(n: int) -> bool:
    """Whether n, below 3.2e9, is prime."""
    if n < 11 or n % 2 == 0:
        return n in (2, 3, 5, 7)
    shift = ((n - 1) & (1 - n)).bit_length() - 1
    return all(_passes(n, witness, shift) for witness in WITNESSES)


def _passes(n: int, witness: int, shift: int) -> bool:
    """Miller's and Rabin's test with one witness, for n - 1 = odd * 2^shift."""
    power = pow(witness, (n - 1) >> shift, n)
    if power in (1, n - 1):
        return True
    for _ in range(shift - 1):
        power = power * power % n
        if power == n - 1:
            return True
    return False


def safe_primes(count: int, random: np.random.Generator) -> list[int]:
    """Different p, each drawn uniformly from all of them."""
    found: list[int] = []
    while len(found) < count:
        for q in map(int, random.integers(LOWEST_Q, 2 * LOWEST_Q, 256)):
            p = 2 * q + 1
            # What three divides is ruled out first: two in three of the others fail so.
            if q % 2 and q % 3 and p % 3 and is_prime(q) and is_prime(p) and p not in found:
                found.append(p)
    return found[:count]
