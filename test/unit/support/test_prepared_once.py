"""What processes that test on a GPU need is computed once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from prepared_once import Sharing


def noted(folder: Path, number: int) -> int:
    """The double of a number, and a line in a file for each call."""
    with (folder / "calls").open("a") as file:
        file.write(f"{number}\n")
    return 2 * number


def test_workers_compute_each_key_once(tmp_path: Path) -> None:
    workers = [Sharing(tmp_path, worker, 3) for worker in range(3)]
    with ThreadPoolExecutor(3) as pool:
        futures = {
            (number, worker.worker): pool.submit(worker.once, noted, tmp_path, number)
            for worker in workers
            for number in range(5)
        }
        assert {key: future.result() for key, future in futures.items()} == {
            (number, worker.worker): 2 * number for worker in workers for number in range(5)
        }
    assert sorted((tmp_path / "calls").read_text().split()) == list("01234")


def test_workers_begin_with_shares_of_their_own() -> None:
    keys = [("a",), ("b",), ("c",), ("d",), ("e",)]
    turns = [Sharing(Path(), worker, 2).turn(keys) for worker in range(2)]
    assert turns == [
        [("a",), ("c",), ("e",), ("b",), ("d",)],
        [("b",), ("d",), ("a",), ("c",), ("e",)],
    ]
