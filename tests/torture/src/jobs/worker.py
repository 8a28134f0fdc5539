# Takes the jobs of the queue `python`, as worker.mjs takes those of `node`.

import asyncio
import json
import os

config = {
    "queue": "python",
    "concurrency": 8,
    "key_concurrency": 3,
    "timeout_ms": 5_000,
    "retry_policy": {"attempts": 30, "backoff": {"type": "fixed", "delay_ms": 20}},
    "dlq": {"queue": "python-dead"},
}


class Planned(Exception):
    def __init__(self, message, code, retriable=True):
        super().__init__(message)
        self.code = code
        self.retriable = retriable


async def handler(input, ctx):
    def note(what):
        line = json.dumps({"job": ctx.job_id, "attempt": ctx.attempt, "what": what})
        file = os.open("attempts.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line.encode() + b"\n")
        os.close(file)

    note("began")
    await ctx.state.set(f"seen.a{ctx.attempt}", input["n"])
    note("wrote")
    ctx.progress(50, {"n": input["n"]})
    ctx.logger.info("half of it", {"attempt": ctx.attempt})
    await asyncio.sleep(input["ms"] / 1000)
    plan = input["plan"]
    deed = plan[ctx.attempt - 1] if ctx.attempt <= len(plan) else "work"
    if deed == "throw":
        raise Planned("as planned", "PLANNED")
    if deed == "fatal":
        raise Planned("as planned, for good", "PLANNED_FATAL", retriable=False)
    if deed == "hang":
        await asyncio.sleep(3600)
    if deed == "exit":
        os._exit(7)
    await ctx.state.set("done", ctx.attempt)
    note("ended")
    return {"n": input["n"], "twice": input["n"] * 2, "attempt": ctx.attempt, "by": "python"}
