"""How many no-op invocations a second go through one runner.

    python3 sdks/python/tests/throughput.py [--count 50000] [--in-flight 64]

Plays the server's side in a process of its own, pinned to another core than the runner where the
machine has two.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"
HANDLERS = {
    "async": "async def handler(input, ctx):\n    return None\n",
    "async that waits once": (
        "import asyncio\nasync def handler(input, ctx):\n    await asyncio.sleep(0)\n"
    ),
    "async with a state.set": ("async def handler(input, ctx):\n    await ctx.state.set('a', 1)\n"),
    "sync": "def handler(input, ctx):\n    return None\n",
    "sync with a state.set": "def handler(input, ctx):\n    ctx.state.set('a', 1)\n",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--in-flight", type=int, default=64)
    options = parser.parse_args()
    for name, source in HANDLERS.items():
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "noop.py"
            file.write_text(source)
            seconds, cpu_s = measure(str(file), options.count, options.in_flight)
        rate, cpu_us = options.count / seconds, cpu_s / options.count * 1e6
        print(f"{name:<24} {rate:>8,.0f} invocations/s, {cpu_us:.1f} µs of CPU each", flush=True)


def measure(file: str, count: int, in_flight: int) -> tuple[float, float]:
    """Seconds on the clock, and of the runner's CPU: the latter counts on a busy machine."""
    out_read, out_write = os.pipe()
    runner = subprocess.Popen(
        [sys.executable, "-c", _as_fd_3(out_write)],
        stdin=subprocess.PIPE,
        pass_fds=[out_write],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    os.close(out_write)
    if (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(runner.pid, {0})
        os.sched_setaffinity(0, {1})
    assert runner.stdin is not None
    requests = runner.stdin.fileno()
    os.write(requests, _line({"id": 1, "method": "initialise", "params": {"protocol": 1}}))
    os.write(requests, _line({"id": 2, "method": "load", "params": {"file": file, "revision": 1}}))
    _until(out_read, 2)
    lines = [_invoke(id, file) for id in range(10, 10 + count)]
    begun, cpu_begun = time.perf_counter(), _cpu_s(runner.pid)
    os.write(requests, b"".join(lines[:in_flight]))
    sent, ended, rest = in_flight, 0, b""
    while ended < count:
        *whole, rest = (rest + os.read(out_read, 1 << 18)).split(b"\n")
        messages = [line for line in whole if b'"heartbeat"' not in line]
        asked = [line for line in messages if b'"method"' in line]
        answers = [
            _line({"id": json.loads(line)["id"], "result": {"version": 1}}) for line in asked
        ]
        free = len(messages) - len(asked)
        ended += free
        os.write(requests, b"".join(lines[sent : sent + free] + answers))
        sent += free
    seconds, cpu_s = time.perf_counter() - begun, _cpu_s(runner.pid) - cpu_begun
    runner.stdin.close()
    runner.wait()
    os.close(out_read)
    return seconds, cpu_s


def _cpu_s(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _as_fd_3(fd: int) -> str:
    return (
        "import os, sys\n"
        f"os.dup2({fd}, 3)\n"
        f"{fd} == 3 or os.close({fd})\n"
        "from riverrun.runner import main\n"
        "main()\n"
    )


def _until(fd: int, id: int) -> None:
    text = b""
    while b'{"id":%d,' % id not in text:
        text += os.read(fd, 1 << 16)


def _invoke(id: int, file: str) -> bytes:
    params = {
        "process": "noop",
        "file": file,
        "export": "default",
        "revision": 1,
        "kind": "job",
        "jobId": f"01980000-0000-7000-8000-{id:012}",
        "queue": "noop",
        "name": "noop",
        "input": {"url": "https://example.com/image.png", "width": 640},
        "attempt": 1,
        "maxAttempts": 3,
        "runId": f"01980000-0000-7000-8000-{id:012}",
        "correlationId": f"01980000-0000-7000-8000-{id:012}",
        "timeoutMs": 30_000,
        "enqueuedAt": "2026-01-01T00:00:00.000Z",
    }
    return _line({"id": id, "method": "invoke", "params": params})


def _line(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


if __name__ == "__main__":
    main()
