"""
The commands of the lit tests, without the time that Python takes to start and import the compiler.

That is most of what hundreds of RUN lines take. A server imports once and forks for each call. What
Python reads when it starts is the server's, as PYTHONPATH: a RUN line that sets such a variable
calls the installed command, `%installed/mirage-opt`.
"""

import os
import subprocess
import sys
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")


def start(server: Path = SERVER) -> str:
    """
    Start a server; the folder of its commands, which belongs first into PATH.

    It ends with this process.
    """
    process = subprocess.Popen(
        [sys.executable, str(server), str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        # Tests share the cores; and one that forks has no other threads.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    with process.stdout as said:
        folder = said.readline().strip()
    if not folder:
        raise RuntimeError(f"the server ended with exit code {process.wait()}")
    return folder
