"""
A command of `server.py` under the command's own name: hands over its call, ends as that ended.

It imports little, for that is most of what it costs: `socket` alone would double it.
"""

import _socket
import marshal
import os
import sys


def lost(reason: object) -> None:
    """End by a signal, which `not` of a RUN line does not take for the failure it expects."""
    sys.stderr.write(f"no answer from the server of the commands: {reason}\n")
    sys.stderr.flush()
    os.abort()


def status() -> int:
    """How the command ended, of the server whose socket lies next to this script."""
    os.umask(umask := os.umask(0))
    call = marshal.dumps((sys.argv, os.getcwd(), umask, dict(os.environ)))
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    connection.connect(os.path.join(os.path.dirname(__file__), "socket"))
    connection.sendmsg([call], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    answer = connection.recv(4)
    if not answer:
        lost("it ended")
    return int.from_bytes(answer, sys.byteorder)


def main() -> int:
    """Return the exit code, or end by the signal that ended the command."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        lost("the installed command can be called without a stream, this one cannot")
    try:
        code = os.waitstatus_to_exitcode(status())
    except OSError as error:
        lost(error)
        raise
    if code < 0:
        import signal

        if signal.getsignal(-code) is not signal.SIG_DFL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main())
