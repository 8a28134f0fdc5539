"""The program that the server starts to run Python handlers: `python3 -m riverrun.runner`.

Messages come in on standard input and go out on fd 3, or on the descriptor that
`RIVERRUN_RUNNER_FD` names. Handlers get an empty standard input, and nothing that they print can
be taken for a message.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and not __package__:
    # Started by path: the folder of this file is no place to import from, the one above it is.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import asyncio
import signal
import threading

EXIT_S = 1.0


def main() -> None:
    from riverrun._runner import capture
    from riverrun._runner.session import Session

    read_fd, write_fd = _take_descriptors()
    capture.install()
    # Ctrl-C in a terminal reaches the whole group; when to stop is the server's decision.
    signal.signal(signal.SIGINT, lambda *_: None)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    problem = loop.run_until_complete(Session(loop, read_fd, write_fd).serve())
    if problem is not None:
        print(f"riverrun: {problem}", file=sys.stderr)
    code = 0 if problem is None else 1
    # Threads of the user's may hold up the interpreter's end.
    watchdog = threading.Timer(EXIT_S, os._exit, (code,))
    watchdog.daemon = True
    watchdog.start()
    sys.exit(code)


def _take_descriptors() -> tuple[int, int]:
    """Moves the protocol to descriptors of its own that no child process inherits."""
    out = int(os.environ.get("RIVERRUN_RUNNER_FD") or 3)
    try:
        write_fd = os.dup(out)
    except OSError:
        sys.exit(
            f"riverrun: file descriptor {out} is not open\n"
            "  this program is started by the server, which reads messages from there\n"
            "  try: RIVERRUN_RUNNER_FD=1 to have them on standard output"
        )
    read_fd = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if out == 1:
        os.dup2(2, 1)
    elif out > 2:
        os.close(out)
    return read_fd, write_fd


if __name__ == "__main__":
    main()
