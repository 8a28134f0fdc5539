"""A step in Python. It sends what was paid or costs nothing; what cannot be sent is undone."""

config = {
    "step": "fulfil-order",
    "queue": "fulfilment",
    # Of orders only: a subscription has nothing to send.
    "flow": "create-order",
    "subscriptions": [
        {"eventKind": "order.paid"},
        {"eventKind": "order.created", "when": "(event) => event.data.requiresPayment === false"},
    ],
    "emits": ["order.fulfilled"],
    "retry": {"maxAttempts": 1},
}


async def handler(input, ctx):
    order = await ctx.state.get("order")
    if order.get("address") == "nowhere":
        raise ValueError("there is no such address")
    parcel = await ctx.run("ship", lambda: f"parcel-{input['orderId']}")
    await ctx.emit("order.fulfilled", {"orderId": input["orderId"]})
    return {"fulfilled": input["orderId"], "parcel": parcel}
