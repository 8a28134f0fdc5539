"""A worker inside of an application.

It connects out to a server, runs what it is given, and comes back when the connection breaks. What
runs goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import socket
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._http.request import server_at
from ._runner.invocations import MIN_THREADS, Invocations
from ._worker.conversation import Conversation
from ._worker.offered import processes_of
from ._worker.voice import Voice
from ._worker.websocket import connect
from .errors import RiverrunError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Worker"]

_PATH = "/api/workers/ws"
_SILENT_S = 60.0
_HEARTBEAT_S = 10.0
_FIRST_BACKOFF_S = 0.1
_LONGEST_BACKOFF_S = 5.0


class Worker:
    """Runs jobs, calls and steps for a server, in this process.

    `processes` has what it runs, by id: handlers, with or without a decorator, pairs of a handler
    and its config, or modules. The id is also the name of the queue where a config gives none.

        worker = Worker({"resize": resize}, url="http://127.0.0.1:4600")
        worker.run()                  # a program of its own: until SIGTERM, Ctrl-C or a drain
        await worker.serve()          # in a loop that is there: until `stop`
        with worker: ...              # in a thread of its own, while the block runs
        async with worker: ...        # in this loop, while the block runs

    `wait` is how many seconds to wait at the start for a server that is not there yet. The URL and
    the token are found as those of a `Client`.
    """

    def __init__(
        self,
        processes: Mapping[str, Any],
        *,
        url: str | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        concurrency: int = 16,
        name: str | None = None,
        tags: Sequence[str] = (),
        wait: float = 0.0,
        on_connect: Callable[[], None] | None = None,
        on_disconnect: Callable[[], None] | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency must be a whole number from 1 on, is {concurrency}")
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._processes = processes_of(processes)
        self._server = server_at(url, token, headers)
        self._concurrency = concurrency
        # By the instance the server knows this worker again.
        self._about = {"name": self.name, "tags": list(tags), "instance": str(uuid.uuid4())}
        self._wait_s = wait
        self._on_connect = on_connect
        self._on_disconnect = on_disconnect
        self._session: _Session | None = None
        self._stopped = threading.Event()
        self._grace_s: float | None = None
        self._thread: threading.Thread | None = None
        self._task: asyncio.Task[None] | None = None
        self._error: BaseException | None = None

    @property
    def running(self) -> int:
        """How many invocations run."""
        return self._session.running if self._session else 0

    @property
    def is_connected(self) -> bool:
        return self._session is not None and self._session.is_connected

    @property
    def welcome(self) -> dict[str, Any] | None:
        """What the server said when it let the worker in last.

        `workerId`, and where there are some `shadowed` (processes that the server has itself),
        `flows` (`{id, version}`, made of its processes) and `faults` (`{code, message, flow?}`: why
        some flow is not what its processes say).
        """
        return self._session.welcome if self._session else None

    async def serve(self) -> None:
        """Works until it is stopped or drained. Raises if it cannot begin, or is refused."""
        await self._serve(lambda: None)

    def run(self) -> None:
        """Works until it is asked to stop: by SIGTERM, by Ctrl-C, by the server.

        Then it takes no more, ends what it runs, and returns. A second signal is not held up.
        """
        asyncio.run(self._run())

    def stop(self, grace: float | None = None) -> None:
        """Takes no more; the worker ends when what runs has ended. From any thread.

        What has not ended after `grace` seconds is asked to stop.
        """
        self._grace_s = grace
        self._stopped.set()
        session = self._session
        if session is not None:
            with contextlib.suppress(RuntimeError):
                session.loop.call_soon_threadsafe(session.stop, grace)

    def start(self) -> None:
        """Works in a thread of its own. Returns when the server knows the worker."""
        known = threading.Event()

        def work() -> None:
            try:
                asyncio.run(self._serve(known.set))
            except BaseException as error:
                self._error = error
            finally:
                known.set()

        self._thread = threading.Thread(target=work, name="riverrun-worker", daemon=True)
        self._thread.start()
        known.wait()
        self._raise()

    def join(self, timeout: float | None = None) -> None:
        """Waits until a worker that was started has ended. Raises if it was refused."""
        if self._thread is not None:
            self._thread.join(timeout)
        self._raise()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self.join()

    async def __aenter__(self) -> Self:
        known = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._serve(lambda: known.set_result(None)))
        await asyncio.wait({known, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            await self._task
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        signals = (signal.SIGTERM, signal.SIGINT)

        def asked() -> None:
            for one in signals:
                loop.remove_signal_handler(one)
            self.stop()

        for one in signals:
            loop.add_signal_handler(one, asked)
        await self.serve()

    async def _serve(self, on_known: Callable[[], None]) -> None:
        session = _Session(self, on_known)
        self._session = session
        if self._stopped.is_set():
            session.stop(self._grace_s)
        try:
            await session.serve()
        finally:
            session.end()

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error


class _Session:
    """A worker at work, from its first connection to its last."""

    def __init__(self, worker: Worker, on_known: Callable[[], None]) -> None:
        self.loop = asyncio.get_running_loop()
        concurrency = worker._concurrency
        self._worker = worker
        self._on_known = on_known
        self._invocations = Invocations(self.loop, max(MIN_THREADS, concurrency))
        self._voice = Voice(self.loop, concurrency)
        self._invocations.wire = self._voice
        self._conversation = Conversation(
            worker._about, worker._processes, concurrency, self._invocations, self._voice
        )
        self._woken = asyncio.Event()
        self._away_since: float | None = None
        self._tries = 0
        self._was_known = False
        self._beating = self.loop.call_later(_HEARTBEAT_S, self._beat)

    @property
    def running(self) -> int:
        return len(self._invocations.running)

    @property
    def is_connected(self) -> bool:
        return self._conversation.is_connected

    @property
    def welcome(self) -> dict[str, Any] | None:
        return self._conversation.welcome

    def stop(self, grace_s: float | None) -> None:
        if grace_s is not None:
            self.loop.call_later(grace_s, self._invocations.cancel_all, "shutdown")
        if not self._conversation.is_leaving:
            self._conversation.leave()
            self._woken.set()

    def end(self) -> None:
        self._beating.cancel()
        self._invocations.cancel_all("shutdown")

    async def serve(self) -> None:
        until = self.loop.time() + self._worker._wait_s
        while True:
            try:
                server, limit = self._worker._server, self._voice.message_bytes
                opened = await connect(server, _PATH, limit, _SILENT_S)
            except RiverrunError as error:
                # Once it was there, whatever answers in the server's place is waited out.
                is_too_late = error.code != "UNREACHABLE" or self.loop.time() >= until
                if not self._was_known and is_too_late:
                    raise
            else:
                if await self._conversation.lead(opened, self._welcome) == "drained":
                    return
                if not self._was_known and self.loop.time() >= until:
                    raise server.unreachable(EOFError("the connection broke"))
                self._lost()
            if self._is_over():
                return
            await self._pause()
            if self._conversation.is_leaving and not self._voice.has_more_to_say():
                return

    def _welcome(self) -> None:
        self._was_known, self._tries, self._away_since = True, 0, None
        on_known, self._on_known = self._on_known, lambda: None
        on_known()
        if self._worker._on_connect is not None:
            self._worker._on_connect()

    def _lost(self) -> None:
        if self._away_since is None:
            self._away_since = self.loop.time()
        if self._worker._on_disconnect is not None:
            self._worker._on_disconnect()

    def _is_over(self) -> bool:
        """Whether there is no need to come back."""
        since = self._away_since
        away_s = 0.0 if since is None else self.loop.time() - since
        is_too_late = away_s >= self._conversation.reconnect_s
        if is_too_late:
            # The server has given up what runs here: somebody else has it by now.
            self._invocations.cancel_all("lease-lost")
        has_nothing_to_say = is_too_late or not self._voice.has_more_to_say()
        return self._conversation.is_leaving and has_nothing_to_say

    async def _pause(self) -> None:
        """Twice as long each time, and never at the same moment as all others."""
        longest = min(_FIRST_BACKOFF_S * 2 ** min(self._tries, 10), _LONGEST_BACKOFF_S)
        self._tries += 1
        self._woken.clear()
        with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
            await asyncio.wait_for(self._woken.wait(), longest * random.uniform(0.5, 1))

    def _beat(self) -> None:
        if self._invocations.running:
            self._voice.send(b'{"method":"heartbeat","params":{}}')
        self._beating = self.loop.call_later(_HEARTBEAT_S, self._beat)
