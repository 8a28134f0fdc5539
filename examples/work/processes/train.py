# A queue worker in Python: the training loop, with state that can be read while it runs.
#
#   riverrun jobs add train -d '{"epochs": 10}' --wait
#   riverrun jobs logs <id>

import datetime
import random

#: Where training on is of no more use.
TARGET = 0.95

config = {
    "queue": "train",
    "concurrency": 2,
    "timeout_ms": 60_000,
    "input_schema": {
        "type": "object",
        "properties": {"epochs": {"type": "integer", "minimum": 1}},
        "required": ["epochs"],
    },
    "state": {
        "type": "object",
        "properties": {
            "status": {"enum": ["idle", "training", "evaluating", "complete"]},
            "epoch": {"type": "integer", "minimum": 0},
            "totalEpochs": {"type": "integer", "minimum": 0},
            "accuracy": {"type": "number", "minimum": 0, "maximum": 1},
            "loss": {"type": "number", "minimum": 0},
            "startTime": {"type": "string"},
        },
    },
}


async def handler(input, ctx):
    epochs = input["epochs"]
    await ctx.state.set_batch(
        {
            "status": "training",
            "epoch": 0,
            "totalEpochs": epochs,
            "accuracy": 0.0,
            "loss": 0.0,
            "startTime": datetime.datetime.now(datetime.timezone.utc).isoformat(),
        }
    )
    ctx.logger.info("training started")
    model = Line()
    for epoch in range(1, epochs + 1):
        accuracy, loss = model.train()
        await ctx.state.set_batch({"epoch": epoch, "accuracy": accuracy, "loss": loss})
        ctx.logger.debug(f"epoch {epoch} of {epochs}", {"accuracy": accuracy, "loss": loss})
        ctx.progress(100 * epoch / epochs)
        if await ctx.state.get("accuracy") > TARGET:
            ctx.logger.info("target accuracy reached")
            break
    await ctx.state.set("status", "evaluating")
    ctx.logger.info("evaluating", {"accuracy": model.accuracy()})
    await ctx.state.set("status", "complete")
    ctx.logger.info("training complete")
    return await ctx.state.get_all()


class Line:
    """Learns y = 3x - 1 by gradient descent, the same way each time."""

    def __init__(self):
        points = random.Random(7)
        self.points = [(x, 3 * x - 1) for x in (points.uniform(-1, 1) for _ in range(50))]
        self.slope = self.offset = 0.0

    def train(self):
        """One epoch. Gives the accuracy, 0 to 1, and the loss after it."""
        for x, y in self.points:
            error = self.slope * x + self.offset - y
            self.slope -= 0.02 * error * x
            self.offset -= 0.02 * error
        return self.accuracy(), round(self.loss(), 4)

    def loss(self):
        errors = ((self.slope * x + self.offset - y) ** 2 for x, y in self.points)
        return sum(errors) / len(self.points)

    def accuracy(self):
        """The part of what there is to explain that is explained."""
        mean = sum(y for _, y in self.points) / len(self.points)
        spread = sum((y - mean) ** 2 for _, y in self.points) / len(self.points)
        return round(max(0.0, 1 - self.loss() / spread), 4)
