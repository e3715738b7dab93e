"""A process of redis-server, or of fakeredis where that is missing, which can be killed."""

import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

FAKE = """
import sys
from fakeredis import TcpFakeServer
TcpFakeServer(("127.0.0.1", int(sys.argv[1]))).serve_forever()
"""

REAL = ("redis-server", "--save", "", "--appendonly", "no", "--port")


def command() -> Sequence[str]:
    """What starts a server; the port comes behind."""
    return REAL if shutil.which(REAL[0]) is not None else (sys.executable, "-c", FAKE)


def free_port() -> int:
    """One that nobody listens at now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class RedisProcess:
    """A server that keeps everything in memory."""

    def __init__(self) -> None:
        self.port = free_port()
        self.address = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        """Start, empty, and wait until it answers."""
        words = [*command(), str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.01)

    def kill(self) -> None:
        """As if the machine were lost."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
