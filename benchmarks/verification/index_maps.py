"""
Campaign: pairs that differ in one index map, which must be refused, and equal ones, which must not.

    python benchmarks/verification/index_maps.py --pairs 0:10000 --valid 0:1000 --jobs 2 [--resume]

A wrong pair is a program and another way to write it, as kernel operators or as uGraphs, in which
one index map was changed: `KINDS` in `test/support/program_pairs` has the kinds of change. Each is
verified with seeds 0 to 3. It is wrong because the oracle of `test/support/oracle`, which shares no
code with the verifier, tells the functions apart in float64 on random inputs. A valid pair is
another way to write a program: another tiling, sums and maxima in parts, divisions moved, online
softmax, views in another order; one seed each, and the oracle confirms that they are equal.

Pairs are drawn by number, so that parts of the campaign can run apart; with `--resume` pairs that
ran before, at the same commit, are not run again. Every wrong pair that is accepted is in the
report as text, and every refusal of a valid one with its reason.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter

from all_programs import ROOT, say, write
from gpu import commit
from machine import described
from oracle import differ
from program_pairs import NoPair, Pair, valid_pair, wrong_pair
from verdicts import verify_with

SEEDS = (0, 1, 2, 3)
"""Of the verifier, for a wrong pair."""

STATE = ROOT / "build" / "index_maps"

SIZES = (64, 256, 1024, 4096, 16384)
"""Up to which sizes are counted together."""


@dataclass
class Outcome:
    """What became of one pair."""

    number: int
    kind: str
    family: str = ""
    form: str = ""
    size: int = 0
    description: str = ""
    accepted: list[int] = field(default_factory=list[int])
    """Seeds with which it was accepted."""
    refused: list[str] = field(default_factory=list[str])
    """Reports of refusals of a valid pair."""
    error: str = ""
    """Why there is no answer."""
    seconds: float = 0.0
    """Of one verification, on average."""
    mlir: str = ""
    """A wrong pair that was accepted, or a valid one that was refused."""


def judged(pair: Pair, seeds: Sequence[int], *, valid: bool) -> Outcome:
    """What the verifier says of a pair."""
    outcome = Outcome(pair.number, pair.kind, pair.family, pair.form, pair.size, pair.description)
    start = perf_counter()
    answers = verify_with(pair.reference, pair.candidate, seeds)
    outcome.seconds = round((perf_counter() - start) / len(seeds), 3)
    for seed, answer in zip(seeds, answers, strict=True):
        if answer.accepted:
            outcome.accepted.append(seed)
        elif valid:
            outcome.refused.append(answer.report)
    if outcome.refused if valid else outcome.accepted:
        outcome.mlir = pair.text
    return outcome


def wrong(number: int) -> Outcome:
    """What became of one wrong pair."""
    try:
        return judged(wrong_pair(number), SEEDS, valid=False)
    except NoPair as reason:
        return Outcome(number, "none", error=str(reason))


def right(number: int) -> Outcome:
    """What became of one valid pair."""
    pair = valid_pair(number)
    if differ(pair.reference, pair.candidate, number):
        return Outcome(number, pair.kind, error="the oracle tells them apart", mlir=pair.text)
    return judged(pair, [number % len(SEEDS)], valid=True)


JUDGES = {"wrong": wrong, "valid": right}


def outcomes(name: str, numbers: range, jobs: int, known: dict[int, Outcome]) -> list[Outcome]:
    """All pairs of a kind in their order; those that are not yet known are added to the state."""
    STATE.mkdir(parents=True, exist_ok=True)
    found: list[Outcome] = []
    with ProcessPoolExecutor(jobs) as pool, state_file(name).open("a") as state:
        new = [number for number in numbers if number not in known]
        futures = {number: pool.submit(JUDGES[name], number) for number in new}
        for number in numbers:
            outcome = known.get(number) or _answer(number, futures[number])
            found.append(outcome)
            if number in futures:
                state.write(json.dumps(asdict(outcome)) + "\n")
                state.flush()
            if len(found) % 50 == 0:
                say([name, number, sum(bool(row.accepted) for row in found), "accepted"])
    return found


def _answer(number: int, future: Future[Outcome]) -> Outcome:
    """What became of a pair, also where the verifier, or the generator, crashed."""
    if (error := future.exception()) is not None:
        return Outcome(number, "crash", error=f"pair {number}: {error!r}")
    return future.result()


def state_file(name: str) -> Path:
    """Where outcomes are kept, a line each."""
    return STATE / f"{name}-{commit()}.jsonl"


def known_outcomes(name: str) -> dict[int, Outcome]:
    """What earlier runs at this commit found."""
    if not state_file(name).exists():
        return {}
    rows = [Outcome(**json.loads(line)) for line in state_file(name).read_text().splitlines()]
    return {row.number: row for row in rows}


# The report


def counted(rows: Iterable[Outcome], key: str) -> dict[str, dict[str, int]]:
    """Pairs and those of them that some seed accepted, by a field."""
    pairs: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for row in rows:
        value = _size(row.size) if key == "size" else str(getattr(row, key))
        pairs[value] += 1
        accepted[value] += bool(row.accepted)
    return {value: {"pairs": pairs[value], "accepted": accepted[value]} for value in sorted(pairs)}


def _size(size: int) -> str:
    return next((f"up to {limit:5}" for limit in SIZES if size <= limit), "larger")


def summary(rows: Sequence[Outcome], *, valid: bool) -> dict[str, object]:
    """Counts, and what should not be."""
    answered = [row for row in rows if not row.error]
    seconds = sorted(row.seconds for row in answered)
    found: dict[str, object] = {
        "pairs": len(answered),
        "accepted": sum(bool(row.accepted) for row in answered),
        "without_answer": [row.error for row in rows if row.error],
        "seconds_of_one_verification": {
            "median": seconds[len(seconds) // 2] if seconds else None,
            "largest": seconds[-1] if seconds else None,
        },
    }
    for key in ("kind", "size", "form", "family"):
        found[f"by_{key}"] = counted(answered, key)
    if valid:
        found["refused"] = [asdict(row) for row in answered if row.refused]
    else:
        found["accepted_pairs"] = [asdict(row) for row in answered if row.accepted]
    return found


def numbers_of(text: str) -> range:
    """`A:B` as the numbers from A to B - 1."""
    first, _, last = text.partition(":")
    return range(int(first), int(last))


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=numbers_of, default=range(0), help="wrong pairs, as A:B")
    parser.add_argument("--valid", type=numbers_of, default=range(0), help="valid pairs, as A:B")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--resume", action="store_true", help="keep what ran at this commit")
    parser.add_argument("--output", default="index_maps", help="name of the report")
    options = parser.parse_args()
    report = described()
    start = perf_counter()
    for name, numbers in (("wrong", options.pairs), ("valid", options.valid)):
        if numbers:
            known = known_outcomes(name) if options.resume else {}
            rows = outcomes(name, numbers, options.jobs, known)
            found = summary(rows, valid=name == "valid")
            report[name] = {"numbers": [numbers[0], numbers[-1] + 1], **found}
            report["seconds"] = round(perf_counter() - start, 1)
            write(options.output, report)
            say([name, found["pairs"], "pairs,", found["accepted"], "accepted"])


if __name__ == "__main__":
    main()
