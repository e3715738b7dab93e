"""
A command of `server.py` under the command's own name: hands over its call, returns the exit code.

It imports little, for that is most of what it costs.
"""

import json
import os
import socket
import sys

LOST = 134
"""The exit code of a command that crashed, as a shell reports an abort."""


def main() -> int:
    """Call the server, whose socket lies next to this script."""
    call = {"words": sys.argv, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.join(os.path.dirname(__file__), "socket"))
        # With the first byte the streams of this process.
        socket.send_fds(connection, [b"!"], [0, 1, 2])
        connection.sendall(f"{json.dumps(call)}\n".encode())
        answer = connection.recv(1)
    return answer[0] if answer else LOST


if __name__ == "__main__":
    sys.exit(main())
