"""What the conformance suite does not ask of every SDK: how Python's runner behaves."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

from support import SOURCE, Runner, runner

from riverrun import QueueConfig
from riverrun._runner.describe import config_json
from riverrun.testing.words import check_settings


class Handlers(unittest.TestCase):
    def check(self, source: str, input: object, expected: object, **params: object) -> None:
        with runner() as it:
            answer = it.invoke(it.write(source), input, **params)
            self.assertEqual(answer.get("result", answer), {"value": expected})

    def refused(self, source: str, code: str, words: str) -> None:
        with runner() as it:
            error = it.load(it.write(source))["error"]
            self.assertEqual(error["data"]["code"], code)
            self.assertIn(words, error["message"])

    def test_fewer_parameters(self) -> None:
        self.check("def handler(): return 1", 5, 1)
        self.check("async def handler(input): return input", 5, 5)
        self.check("def handler(ctx): return ctx.job_id", 5, "j", jobId="j")
        self.check("def handler(*all): return len(all)", 5, 2)
        self.check("async def handler(input, ctx, more=3): return more", 5, 3)

    def test_callable_objects(self) -> None:
        source = """
            class Echo:
                async def __call__(self, input, ctx):
                    return input
            handler = Echo()
        """
        self.check(source, 5, 5)
        self.check(
            "import functools\ndef f(a, i): return [a, i]\nhandler = functools.partial(f, 1)",
            2,
            [1, 2],
        )

    def test_what_cannot_be_a_handler(self) -> None:
        self.refused("def handler(a, b, c): pass", "MODULE_ERROR", "wants c")
        self.refused("def handler(a):\n    yield a", "MODULE_ERROR", "generator")

    def test_other_names(self) -> None:
        self.check("def default(input): return 'default'\ndef main(): return 'main'", 0, "default")
        self.check("def main(input): return 'main'", 0, "main")
        source = """
            from riverrun import process
            def main(): return 'main'
            @process
            def resize(input): return 'resize'
        """
        self.check(source, 0, "resize")

    def test_several_processes_in_a_file(self) -> None:
        source = """
            from riverrun import process, queue_worker
            config = {"concurrency": 2}
            def handler(input): return "handler"
            @process(queue="a")
            def a(input): return "a"
            @queue_worker(queue="b", retry_policy={"attempts": 2})
            async def b(job): return job.data
        """
        with runner() as it:
            file = it.write(source)
            processes = it.load(file)["result"]["processes"]
            self.assertEqual(
                processes,
                [
                    {"export": "default", "config": {"concurrency": 2}},
                    {"export": "a", "config": {"queue": "a"}},
                    {"export": "b", "config": {"queue": "b", "retryPolicy": {"attempts": 2}}},
                ],
            )
            self.assertEqual(it.invoke(file, 1, export="b")["result"], {"value": 1})

    def test_a_decorated_function_from_elsewhere_is_no_process(self) -> None:
        with runner() as it:
            it.write("from riverrun import process\n@process\ndef shared(input): pass", "other")
            source = f"""
                import sys
                sys.path.insert(0, {it.folder.name!r})
                from other import shared
            """
            self.assertEqual(it.load(it.write(source))["result"], {"processes": []})

    def test_a_coroutine_from_a_sync_handler(self) -> None:
        with runner() as it:
            file = it.write("async def f(): pass\ndef handler(input): return f()")
            error = it.invoke(file)["error"]
            self.assertIn("async def", error["message"])
            self.assertIs(error["data"]["retriable"], False)

    def test_exit_is_an_error_of_the_handler(self) -> None:
        for source in ("import sys\nasync def handler(): sys.exit(3)", "def handler(): exit(3)"):
            with runner() as it:
                file = it.write(source)
                self.assertIn("sys.exit(3)", it.invoke(file)["error"]["message"])
                self.assertIn("sys.exit(3)", it.invoke(file)["error"]["message"])

    def test_the_stack_begins_in_the_handler(self) -> None:
        for prefix in ("", "async "):
            with runner() as it:
                file = it.write(f"{prefix}def handler(input):\n    return 1 / input")
                stack = it.invoke(file, 0)["error"]["data"]["stack"]
                self.assertIn("return 1 / input", stack)
                self.assertNotIn("_runner", stack)

    def test_results_of_the_language(self) -> None:
        source = """
            import dataclasses, datetime, enum, uuid
            class Colour(enum.Enum):
                RED = "red"
            @dataclasses.dataclass
            class Point:
                x: int
                at: datetime.datetime
            async def handler(input):
                at = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
                return [Point(1, at), Colour.RED, uuid.UUID(int=1), (1, 2), 2**80]
        """
        expected = [
            {"x": 1, "at": "2026-01-01T00:00:00+00:00"},
            "red",
            "00000000-0000-0000-0000-000000000001",
            [1, 2],
            2**80,
        ]
        self.check(source, None, expected)

    def test_what_is_not_json(self) -> None:
        for value in ("float('nan')", "'\\ud800'", "{(1, 2): 3}", "object()", "[[]] * 0 or loop()"):
            with runner() as it:
                source = f"""
                    def loop():
                        value = []
                        value.append(value)
                        return value
                    async def handler(input):
                        return {value}
                """
                error = it.invoke(it.write(source))["error"]
                self.assertEqual(error["data"]["code"], "RESULT_NOT_JSON", value)

    def test_integers_of_any_size(self) -> None:
        self.check("async def handler(input): return input", 2**100 + 1, 2**100 + 1)


class ExecutionsThatAreOver(unittest.TestCase):
    """Threads, where the conversations of sdks/conformance have async handlers."""

    SOURCE = """
        def handler(input, ctx):
            try:
                ctx.run("reserve", lambda: 1 / 0)
            except Exception:
                ctx.logger.info("undoing")
                ctx.run("refund", lambda: 1)
            return "done"
        """

    def begin(self, it: Runner, kind: str) -> int:
        it.initialise()
        file = it.write(self.SOURCE)
        run = {"runId": "run-1", "flow": "order", "step": "pay", "visit": 1}
        it.send(id=9, method="invoke", params={"file": file, "kind": kind, "jobId": "j", **run})
        asked = it.next()
        self.assertEqual(asked["method"], "memo.failed")
        return int(asked["id"])

    def test_an_outcome_that_cannot_be_recorded_does_not_reach_the_code(self) -> None:
        for kind in ("step", "job"):
            with self.subTest(kind), runner() as it:
                over = {"code": -32002, "message": "no", "data": {"code": "LEASE_LOST"}}
                it.send(id=self.begin(it, kind), error=over)
                self.assertEqual(it.next()["error"]["data"]["code"], "LEASE_LOST")

    def test_a_cancel_between_two_tries_does_not_reach_the_code(self) -> None:
        for kind in ("step", "job"):
            with self.subTest(kind), runner() as it:
                later = {"attempt": 2, "retryAfterMs": 60_000, "suspend": False}
                it.send(id=self.begin(it, kind), result=later)
                it.send(method="cancel", params={"invocation": 9, "reason": "lease-lost"})
                self.assertEqual(it.next()["error"]["data"]["code"], "CANCELLED")


class Batches(unittest.TestCase):
    jobs = ({"jobId": "a", "input": 1, "checkpoint": 7}, {"jobId": "b", "input": 2})

    def test_a_worker_gets_jobs(self) -> None:
        source = """
            from riverrun import queue_worker
            @queue_worker(batch={"size": 2})
            def handler(jobs):
                return [[job.id, job.queue, job.data, job.checkpoint] for job in jobs]
        """
        with runner() as it:
            answer = it.request("invoke", file=it.write(source), queue="q", jobs=self.jobs)
            values = [{"value": ["a", "q", 1, 7]}, {"value": ["b", "q", 2, None]}]
            self.assertEqual(answer["result"], {"results": values})

    def test_the_wrong_number_of_results(self) -> None:
        with runner() as it:
            file = it.write("async def handler(inputs): return [1]")
            error = it.request("invoke", file=file, jobs=self.jobs)["error"]
            self.assertEqual(error["data"]["code"], "BATCH_RESULTS")

    def test_a_result_that_cannot_be_sent_is_its_job_s_error(self) -> None:
        with runner() as it:
            file = it.write("async def handler(inputs): return [1, {2}]")
            first, second = it.request("invoke", file=file, jobs=self.jobs)["result"]["results"]
            self.assertEqual(first, {"value": 1})
            self.assertEqual(second["error"]["code"], "RESULT_NOT_JSON")


class Configs(unittest.TestCase):
    def check(self, source: str, expected: object) -> None:
        with runner() as it:
            answer = it.load(it.write(source + "\ndef handler(): pass\n"))
            self.assertEqual(
                answer.get("result", answer),
                {"processes": [{"export": "default", "config": expected}]},
            )

    def refused(self, source: str, *words: str) -> None:
        with runner() as it:
            error = it.load(it.write(source + "\ndef handler(): pass\n"))["error"]
            self.assertEqual(error["data"]["code"], "MODULE_ERROR")
            for word in words:
                self.assertIn(word, error["message"])

    def test_names(self) -> None:
        self.check(
            "config = {'run_mode': 'call', 'rateLimit': {'max': 1, 'duration_ms': 5}, 'dlq': None}",
            {"runMode": "call", "rateLimit": {"max": 1, "durationMs": 5}},
        )

    def test_names_of_the_user_stay(self) -> None:
        schema = {"properties": {"first_name": {}}}
        self.check(f"config = {{'input_schema': {schema}}}", {"inputSchema": schema})
        self.check("config = {'metadata': {'my_key': None}}", {"metadata": {"my_key": None}})

    def test_objects(self) -> None:
        source = """from riverrun import *
class Flaky(Exception): pass
config = QueueConfig(
    queue="q",
    retry_policy=RetryPolicy(3, RetryBackoff("fixed", 10), [Flaky, "Other"], on_fail="dlq"),
    batch=Batch(5, wait_ms=10),
)"""
        backoff = {"type": "fixed", "delayMs": 10}
        policy = {
            "attempts": 3,
            "backoff": backoff,
            "retriableErrors": ["Flaky", "Other"],
            "onFail": "dlq",
        }
        batch = {"size": 5, "waitMs": 10}
        self.check(source, {"queue": "q", "retryPolicy": policy, "batch": batch})

    def test_every_setting(self) -> None:
        settings = {
            "queue": {"name": "q", "concurrency": 2},
            "run_mode": "queue",
            "concurrency": 2,
            "key": "input.user",
            "key_concurrency": 1,
            "rate_limit": {"max": 1, "duration_ms": 5},
            "retry": {"max_attempts": 2, "backoff_ms": 5},
            "retry_policy": {"on_fail": "dlq", "backoff": {"delay_ms": 5}},
            "dlq": {"queue": "dead"},
            "timeout_ms": 5,
            "idempotency_key": "auto",
            "idempotency_window_ms": 5,
            "idempotency": {"key": "auto", "window_ms": 5},
            "throttle": {"window_ms": 5, "key": "input.user"},
            "debounce": {"delay_ms": 5, "key": "input.user"},
            "batch": {"size": 5, "wait_ms": 5},
            "logs": {"max_lines": 5, "max_bytes": 5},
            "input_schema": {},
            "output_schema": {},
            "state": {},
            "persist_frames": False,
            "flow": {"id": "f", "limits": {"max_steps": 5}},
            "step": "s",
            "role": "entry",
            "triggers": ["go"],
            "subscriptions": [{"event_kind": "go"}],
            "join": "any",
            "await_": {"type": "trigger", "many": 2, "secret_env": "SECRET"},
            "emits": ["done"],
            "compensation": {"step": "undo"},
            "on_failure": "finish",
            "version": "1.0.0",
            "name": "n",
            "description": "d",
            "tags": ["t"],
            "metadata": {"my_key": 1},
            "logger": {"level": "warn"},
        }
        self.assertEqual(
            sorted(field.name for field in dataclasses.fields(QueueConfig)), sorted(settings)
        )
        # The server's words: none of them is a stranger to the test kit.
        check_settings(config_json(QueueConfig(**settings)), "every setting")

    def test_a_policy_says_what_it_wants(self) -> None:
        source = """from riverrun import *
config = QueueConfig(retry_policy=RetryPolicy(on_fail="drop", backoff=RetryBackoff("fixed")))"""
        backoff = {"type": "fixed", "delayMs": 1000}
        self.check(source, {"retryPolicy": {"onFail": "drop", "backoff": backoff}})

    def test_a_dataclass_of_the_user_s(self) -> None:
        source = """import dataclasses
@dataclasses.dataclass
class Mine:
    queue: str = "q"
    timeout_ms: int = 5
config = Mine()"""
        self.check(source, {"queue": "q", "timeoutMs": 5})

    def test_the_queue_module_is_no_queue(self) -> None:
        self.check("import queue", {})

    def test_functions(self) -> None:
        self.refused(
            "config = {'idempotency_key': lambda input: input['id']}",
            "config.idempotencyKey",
            "JavaScript",
            "input.orderId",
        )

    def test_what_is_no_config(self) -> None:
        self.refused("config = 5", "int")
        self.refused("config = {'concurrency': {1}}", "set")
        self.refused("config = {'input_schema': 5}", "config.inputSchema")


class Numbers(unittest.TestCase):
    def test_an_integer_beyond_every_double_is_not_json(self) -> None:
        source = """
            async def handler(input, ctx):
                value = eval(input["value"])
                if input["how"] == "return":
                    return value
                if input["how"] == "log":
                    ctx.logger.info("n", {"n": value, "m": 1})
                else:
                    await ctx.emit("n", value)
        """
        with runner() as it:
            file = it.write(source)
            for value in ("10**309", "[-(10**400)]", "{'a': 2 * 10**308}", "10**5000"):
                error = it.invoke(file, {"how": "return", "value": value})["error"]
                found = (error["data"]["code"], error["data"]["retriable"])
                self.assertEqual(found, ("RESULT_NOT_JSON", False), value)
                refused = it.invoke(file, {"how": "emit", "value": value})["error"]
                self.assertEqual(refused["data"]["name"], "ValueError", value)
            self.assertIn("digits", error["message"])
            for value in ("10**308", "-(10**308)", "1.7e308", "'1' * 400", "{'1' * 400: 2**63}"):
                answer = it.invoke(file, {"how": "return", "value": value})
                self.assertEqual(answer["result"], {"value": eval(value)})
            it.send(
                id=90,
                method="invoke",
                params={"file": file, "input": {"how": "log", "value": "10**400"}},
            )
            meta = it.next()["params"]["meta"]
            self.assertEqual(meta, {"n": "an integer of 1329 bits", "m": 1})
            self.assertEqual(it.next()["id"], 90)


class Output(unittest.TestCase):
    def logs(self, it: Runner, file: str, **params: object) -> list[tuple[str, str]]:
        it.send(id=50, method="invoke", params={"file": file, **params})
        logs = []
        while (message := it.next()).get("id") != 50:
            self.assertEqual((message["method"], message["params"]["invocation"]), ("log", 50))
            logs.append((message["params"]["level"], message["params"]["message"]))
        return logs

    def test_prints_become_logs(self) -> None:
        source = """
            import sys
            %sdef handler():
                print("one\\ntwo", end="")
                print(" and a half")
                print("bad", file=sys.stderr)
                print("unfinished", end="")
        """
        expected = [
            ("info", "one"),
            ("info", "two and a half"),
            ("warn", "bad"),
            ("info", "unfinished"),
        ]
        for kind in ("", "async "):
            with runner() as it:
                self.assertEqual(self.logs(it, it.write(source % kind)), expected)

    def test_prints_find_their_invocation(self) -> None:
        source = """
            import asyncio
            async def part(text):
                await asyncio.sleep(0.01)
                print(text)
            async def handler(input):
                await asyncio.gather(part(input), asyncio.to_thread(print, input))
        """
        with runner() as it:
            file = it.write(source)
            it.load(file)
            for id in (60, 61):
                it.send(id=id, method="invoke", params={"file": file, "input": f"of {id}"})
            seen = [it.next() for _ in range(6)]
            logs = [message["params"] for message in seen if "method" in message]
            self.assertEqual(len(logs), 4)
            for log in logs:
                self.assertEqual(log["message"], f"of {log['invocation']}")

    def test_logging_without_configuration(self) -> None:
        source = """
            import logging
            def handler():
                logging.getLogger("shop").warning("careful %s", 1)
                logging.getLogger("shop").error("broken")
        """
        with runner() as it:
            expected = [("warn", "careful 1"), ("error", "broken")]
            self.assertEqual(self.logs(it, it.write(source)), expected)

    def test_what_is_below_python_is_not_protocol(self) -> None:
        source = """
            import os, subprocess, sys
            def handler():
                os.write(1, b"from the descriptor\\n")
                subprocess.run(["/bin/sh", "-c", "echo from a child; cat; echo >&3"], stdout=None)
                return sys.stdin.read()
        """
        with runner() as it:
            self.assertEqual(it.invoke(it.write(source))["result"], {"value": ""})
            code, out, _ = it.end()
            self.assertEqual(code, 0)
            self.assertIn("from the descriptor\n", out)
            self.assertIn("from a child\n", out)

    def test_protocol_on_standard_output(self) -> None:
        source = """
            import os
            def handler():
                os.write(1, b"unowned\\n")
                print("print")
                return 1
        """
        with runner(fd=1) as it:
            it.send(id=50, method="invoke", params={"file": it.write(source)})
            self.assertEqual(it.next()["params"]["message"], "print")
            self.assertEqual(it.next(), {"id": 50, "result": {"value": 1}})
            self.assertIn("unowned", it.end()[2])

    def test_a_forked_child_prints_on_its_own(self) -> None:
        source = """
            import multiprocessing
            def handler():
                context = multiprocessing.get_context("fork")
                child = context.Process(target=print, args=("in the child",))
                child.start()
                child.join()
        """
        with runner() as it:
            self.assertEqual(it.invoke(it.write(source))["result"], {"value": None})
            self.assertIn("in the child", it.end()[1])

    def test_meta_that_is_not_json(self) -> None:
        with runner() as it:
            file = it.write(
                "def handler(ctx): ctx.logger.info('x', a={1}, b=float('nan'), c=object)"
            )
            it.send(id=50, method="invoke", params={"file": file})
            meta = it.next()["params"]["meta"]
            self.assertEqual((meta["a"], meta["b"]), ([1], "nan"))


class Cancelling(unittest.TestCase):
    def cancelled(self, source: str, after: str = "log") -> dict[str, object]:
        with runner() as it:
            file = it.write(source)
            it.load(file)
            it.send(id=50, method="invoke", params={"file": file})
            self.assertEqual(it.next()["method"], after)
            it.send(method="cancel", params={"invocation": 50, "reason": "user"})
            message = it.next()
            while message.get("id") != 50:
                message = it.next()
            return message

    def test_a_sync_handler_that_looks(self) -> None:
        source = """
            def handler(ctx):
                print("ready")
                ctx.signal.wait(10)
                ctx.signal.raise_if_set()
        """
        self.assertEqual(self.cancelled(source)["error"]["code"], -32001)  # type: ignore[index]

    def test_a_sync_handler_that_waits_for_an_answer(self) -> None:
        source = """
            from riverrun import Cancelled
            def handler(ctx):
                try:
                    ctx.call("forever")
                except Cancelled as error:
                    return error.reason
        """
        self.assertEqual(self.cancelled(source, "call")["result"], {"value": "user"})

    def test_an_async_handler_that_tidies_up(self) -> None:
        source = """
            import asyncio
            async def handler(ctx):
                print("ready")
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    ctx.logger.info("tidied up")
                    raise
        """
        self.assertEqual(self.cancelled(source)["error"]["code"], -32001)  # type: ignore[index]

    def test_a_cancelled_error_that_nobody_asked_for_is_a_failure(self) -> None:
        for kind in ("", "async "):
            with runner() as it:
                lines = [
                    "import asyncio",
                    f"{kind}def handler():",
                    "    raise asyncio.CancelledError()",
                ]
                file = it.write("\n".join(lines))
                it.load(file)
                error = it.request("invoke", file=file)["error"]
                self.assertEqual(error["code"], -32000)
                self.assertEqual(error["data"]["code"], "HANDLER_ERROR")
                self.assertIn("was not cancelled", error["message"])

    def test_a_cancel_that_comes_with_the_invocation(self) -> None:
        for kind in ("", "async "):
            with runner() as it:
                file = it.write(f"{kind}def handler(): return 1")
                it.load(file)
                invoke = {"id": 50, "method": "invoke", "params": {"file": file}}
                cancel = {"method": "cancel", "params": {"invocation": 50}}
                assert it.process.stdin is not None
                lines = "".join(json.dumps(message) + "\n" for message in (invoke, cancel))
                it.process.stdin.write(lines.encode())
                it.process.stdin.flush()
                answer = it.next()
                # A handler that is quick enough has ended before the cancel is read.
                self.assertTrue("result" in answer or answer["error"]["code"] == -32001)
                self.assertEqual(it.request("drain", graceMs=0)["result"], {"unfinished": 0})


class Threads(unittest.TestCase):
    def test_long_sync_handlers_run_side_by_side(self) -> None:
        source = """
            import threading
            barrier = threading.Barrier(20)
            def handler():
                barrier.wait(10)
                return "met"
        """
        with runner() as it:
            file = it.write(source)
            it.load(file)
            for id in range(50, 70):
                it.send(id=id, method="invoke", params={"file": file})
            values = [it.next()["result"]["value"] for _ in range(20)]
            self.assertEqual(values, ["met"] * 20)

    def test_concurrency_is_room_for_as_many(self) -> None:
        source = """
            import threading
            config = {"concurrency": 100}
            barrier = threading.Barrier(100)
            def handler():
                barrier.wait(10)
                return "met"
        """
        with runner() as it:
            file = it.write(source)
            it.load(file)
            for id in range(50, 150):
                it.send(id=id, method="invoke", params={"file": file})
            values = [it.next()["result"]["value"] for _ in range(100)]
            self.assertEqual(values, ["met"] * 100)

    def test_context_variables_do_not_leak(self) -> None:
        source = """
            import contextvars
            seen = contextvars.ContextVar("seen", default=0)
            def handler():
                seen.set(seen.get() + 1)
                return seen.get()
        """
        with runner() as it:
            file = it.write(source)
            values = [it.invoke(file)["result"]["value"] for _ in range(3)]
            self.assertEqual(values, [1, 1, 1])


class Loading(unittest.TestCase):
    def test_a_slow_import_holds_up_nobody(self) -> None:
        with runner() as it:
            slow = it.write("import time\ntime.sleep(1.5)\ndef handler(): pass", "slow")
            quick = it.write("def handler(): return 'quick'", "quick")
            it.load(quick)
            begun = time.monotonic()
            it.send(id=50, method="load", params={"file": slow, "revision": 1})
            self.assertEqual(it.invoke(quick)["result"], {"value": "quick"})
            self.assertLess(time.monotonic() - begun, 1.4)
            self.assertEqual(it.next()["id"], 50)

    def test_what_was_just_saved_is_what_runs(self) -> None:
        for value in ("1", "2"):
            with runner() as it:
                file = pathlib.Path(it.write(f"def handler(): return {value}"))
                os.utime(file, (1, 1))
                self.assertEqual(it.invoke(str(file))["result"], {"value": int(value)})
                self.assertEqual(list(file.parent.iterdir()), [file])

    def test_a_module_that_failed_needs_a_new_runner_once_it_has_changed(self) -> None:
        with runner() as it:
            file = it.write("raise ValueError('not yet')")
            self.assertEqual(it.load(file)["error"]["data"]["code"], "MODULE_ERROR")
            answer = it.request("load", file=file, revision=2)
            self.assertEqual(answer["error"]["data"]["code"], "RELOAD")

    def test_the_project_is_importable(self) -> None:
        with runner() as it:
            it.write("value = 5", "beside")
            file = it.write("import beside\ndef handler(): return beside.value")
            it.initialise(project=it.folder.name)
            self.assertEqual(it.invoke(file)["result"], {"value": 5})

    def test_dataclasses_and_types_find_their_module(self) -> None:
        source = """
            from __future__ import annotations
            import dataclasses, typing
            @dataclasses.dataclass
            class A:
                b: typing.Optional[A] = None
            def handler(): return list(typing.get_type_hints(A))
        """
        with runner() as it:
            self.assertEqual(it.invoke(it.write(source))["result"], {"value": ["b"]})


class Starting(unittest.TestCase):
    def test_by_path(self) -> None:
        command = [sys.executable, str(SOURCE / "riverrun" / "runner.py")]
        with runner(command=command) as it:
            file = it.write("import riverrun, signal\ndef handler(): return signal.SIGINT.name")
            self.assertEqual(it.invoke(file)["result"], {"value": "SIGINT"})

    def test_a_message_that_is_too_long_ends_it(self) -> None:
        with runner() as it:
            it.initialise(limits={"messageBytes": 1000})
            it.send(id=5, method="load", params={"file": "x" * 2000})
            code, _, err = it.end()
            self.assertEqual(code, 1)
            self.assertIn("more than 1000 bytes", err)

    def test_a_value_that_is_too_long_for_a_message(self) -> None:
        source = """
            from riverrun import RiverrunError
            def handler(ctx):
                ctx.partial("x" * 5000)
                try:
                    ctx.state.set("a", "x" * 5000)
                except RiverrunError as error:
                    return error.code
        """
        with runner() as it:
            file = it.write(source)
            it.initialise(limits={"messageBytes": 2000, "resultBytes": 1000})
            it.send(id=50, method="invoke", params={"file": file})
            self.assertIn("left out", it.next()["params"]["message"])
            self.assertEqual(it.next(), {"id": 50, "result": {"value": "MESSAGE_TOO_LARGE"}})

    def test_without_a_descriptor_it_says_so(self) -> None:
        command = [sys.executable, "-m", "riverrun.runner"]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "RIVERRUN_RUNNER_FD": "77"}
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        self.assertEqual(ended.returncode, 1)
        self.assertIn("file descriptor 77 is not open", ended.stderr)


if __name__ == "__main__":
    unittest.main()
