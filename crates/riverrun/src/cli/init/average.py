# A process that is called: its answer comes back on the same request.
#
#   riverrun call average -d '[1, 2, 3, 4]'

config = {"run_mode": "call"}


def handler(input, ctx):
    ctx.progress(50)
    return sum(input) / len(input)
