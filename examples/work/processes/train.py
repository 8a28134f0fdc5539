# A queue worker in Python: the training loop, with state that can be read while it runs.
#
#   riverrun jobs add train -d '{"epochs": 5}' --wait

config = {
    "queue": "train",
    "concurrency": 2,
    "timeout_ms": 60_000,
    "state": {
        "type": "object",
        "properties": {
            "status": {"enum": ["idle", "training", "complete"]},
            "epoch": {"type": "integer", "minimum": 0},
            "accuracy": {"type": "number", "minimum": 0, "maximum": 1},
        },
    },
}


async def handler(input, ctx):
    epochs = int(input["epochs"])
    await ctx.state.set_batch({"status": "training", "epoch": 0, "accuracy": 0.0})
    for epoch in range(1, epochs + 1):
        accuracy = round(1 - 1 / (epoch + 1), 3)
        await ctx.state.set_batch({"epoch": epoch, "accuracy": accuracy})
        ctx.logger.debug(f"epoch {epoch} of {epochs}", {"accuracy": accuracy})
        ctx.progress(100 * epoch / epochs)
    await ctx.state.set("status", "complete")
    return await ctx.state.get_all()
