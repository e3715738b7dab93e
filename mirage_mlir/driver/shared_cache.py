"""
A cache that users and machines share: a Redis server, before it a folder of this machine.

Entries are checked by their digests and are never pickles. A server that is down or slow costs a
remark and what it holds: the folder does alone, and what it got meanwhile is sent later.
"""

import contextvars
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar
from uuid import uuid4

from mirage_mlir.diagnostics import general_remark
from mirage_mlir.driver.cache import (
    FOLDER_VARIABLE,
    MOST_BYTES,
    SERVER_VARIABLE,
    Cache,
    Key,
    is_whole,
)

ResultT = TypeVar("ResultT")

PATIENCE = 1.0
"""Seconds for each answer; all machines near by answer in milliseconds."""

SILENCE = 30.0
"""Seconds without a question after one that was not answered."""

LEASE = 30.0
"""Seconds after which the lock of a process is free that was lost; those alive renew theirs."""

PERIOD = 0.2
"""Seconds between two looks at a lock that another has."""

UNUSED = 90 * 24 * 3600
"""Seconds after which the server forgets what nobody asked for."""

ENTRIES, LOCKS = "mirage_mlir:entry:", "mirage_mlir:lock:"
"""How keys begin, in the server."""

MOST_UNSENT = 100_000


class CacheError(ValueError):
    """The variable that names the server cannot be used."""


class Server:
    """A Redis server; no method raises where it does not answer."""

    def __init__(self, address: str, client: Any = None) -> None:
        """Raises `CacheError` for what is no address, or where the package redis is missing."""
        self._address = _without_password(address)
        if client is None:
            client = _client(address)
        self._client = client
        self._error: Any = import_module("redis").RedisError
        self._silent_until = 0.0
        self._answers = True
        self._noting = threading.Lock()
        self._unsent: dict[str, Callable[[], bytes | None]] = {}

    def get(self, name: str) -> bytes | None:
        """The entry `name`."""
        data = self._ask(lambda: self._client.getex(ENTRIES + name, ex=UNUSED), None)
        return data if isinstance(data, bytes) and len(data) <= MOST_BYTES else None

    def put(self, name: str, data: bytes, again: Callable[[], bytes | None]) -> None:
        """Keep an entry; where the server does not answer, later, what `again` gives then."""
        if not self._ask(lambda: bool(self._send(name, data)), False):
            if len(self._unsent) < MOST_UNSENT:
                self._unsent[name] = again

    def names(self) -> list[str]:
        """Of all entries."""
        found = self._ask(lambda: list(self._client.scan_iter(f"{ENTRIES}*", 1000)), [])
        return sorted(name.decode()[len(ENTRIES) :] for name in found)

    @contextmanager
    def lock(self, name: str) -> Generator[bool]:
        """Whether nobody else has the lock, which is held in this `with` block."""
        token = uuid4().hex.encode()
        if not self.take(name, token):
            yield False
            return
        done = threading.Event()
        # In our context, so that its remarks come where ours do.
        run = contextvars.copy_context().run
        renewing = threading.Thread(target=run, args=(self._renew, name, token, done), daemon=True)
        renewing.start()
        try:
            yield True
        finally:
            done.set()
            renewing.join()
            self.if_mine(name, token, lambda pipe: pipe.delete(LOCKS + name))

    # Questions

    def _ask(self, question: Callable[[], ResultT], otherwise: ResultT) -> ResultT:
        if time.monotonic() < self._silent_until:
            return otherwise
        try:
            answer = question()
            self._send_unsent()
        except (self._error, OSError) as error:
            self._note_silence(error)
            return otherwise
        self._answers = True
        return answer

    def _note_silence(self, error: Exception) -> None:
        """Say it once, however many threads wait, and however often they ask again."""
        with self._noting:
            self._silent_until = time.monotonic() + SILENCE
            said, self._answers = not self._answers, False
        if not said:
            reason = " ".join(str(error).split())
            general_remark(
                f"the cache at {self._address} does not answer, the local one does: {reason}"
            )

    def _send(self, name: str, data: bytes) -> object:
        return self._client.set(ENTRIES + name, data, ex=UNUSED)

    def _send_unsent(self) -> None:
        """What was found while the server did not answer."""
        while self._unsent:
            name = next(iter(self._unsent))
            if (data := self._unsent[name]()) is not None:
                self._send(name, data)
            self._unsent.pop(name, None)

    # Locks

    def take(self, name: str, token: bytes) -> bool:
        """Whether the lock is ours; where the server does not answer nobody waits."""

        def taken() -> bool:
            return bool(self._client.set(LOCKS + name, token, nx=True, px=int(LEASE * 1000)))

        return self._ask(taken, True)

    def _renew(self, name: str, token: bytes, done: threading.Event) -> None:
        while not done.wait(LEASE / 3):
            mine = self.if_mine(
                name, token, lambda pipe: pipe.pexpire(LOCKS + name, int(LEASE * 1000))
            )
            if not mine:
                # A server that was started again knows nothing of locks.
                self.take(name, token)

    def if_mine(self, name: str, token: bytes, change: Callable[[Any], object]) -> bool:
        """Change the lock where it is still ours."""

        def changed() -> bool:
            with self._client.pipeline() as pipe:
                pipe.watch(LOCKS + name)
                if pipe.get(LOCKS + name) != token:
                    return False
                pipe.multi()
                change(pipe)
                pipe.execute()
            return True

        return self._ask(changed, True)


def _without_password(address: str) -> str:
    """What may be shown: neither what is before the host nor the options, which may have one."""
    return re.sub(r"\?.*", "", re.sub("//.*@", "//", address))


def _client(address: str) -> Any:
    if not address.startswith(("redis://", "rediss://", "unix://")):
        raise CacheError(
            f"{SERVER_VARIABLE}={_without_password(address)} is no address of a server; "
            f"one is redis://HOST:PORT, and a folder is what {FOLDER_VARIABLE} names"
        )
    if find_spec("redis") is None:
        raise CacheError(f"{SERVER_VARIABLE} needs redis: pip install 'mirage_mlir[redis]'")
    redis: Any = import_module("redis")
    retries = import_module("redis.retry").Retry(import_module("redis.backoff").NoBackoff(), 0)
    try:
        return redis.Redis.from_url(
            address, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=retries
        )
    except ValueError as error:
        raise CacheError(f"{SERVER_VARIABLE}={_without_password(address)}: {error}") from error


@cache
def server_at(address: str) -> Server:
    """The server, one for all threads of this process."""
    return Server(address)


@dataclass(frozen=True)
class SharedCache(Cache):
    """A server, and a folder or none."""

    server: Server

    @property
    def keeps(self) -> bool:
        """Always."""
        return True

    def read(self, name: str) -> bytes | None:
        """From the folder, or else from the server; then the folder has it, too."""
        data = super().read(name)
        if data is not None and is_whole(name, data):
            return data
        data = self.server.get(name)
        if data is None or not is_whole(name, data):
            return None
        super().write(name, data)
        return data

    def write(self, name: str, data: bytes) -> None:
        """Into the folder first, which always answers."""
        super().write(name, data)
        self.server.put(name, data, lambda: super(SharedCache, self).read(name))

    def names(self) -> Iterator[str]:
        """Of all entries."""
        yield from sorted({*super().names(), *self.server.names()})

    @contextmanager
    def locked(self, key: Key) -> Generator[None]:
        """As `Cache.locked`, for all who use the server."""
        with super().locked(key), ExitStack() as held:
            while not held.enter_context(self.server.lock(key.digest())):
                time.sleep(PERIOD)
            yield

    @contextmanager
    def try_lock(self, key: Key) -> Generator[bool]:
        """As `Cache.try_lock`, for all who use the server."""
        with super().try_lock(key) as mine:
            if not mine:
                yield False
                return
            with self.server.lock(key.digest()) as ours:
                yield ours
