"""Fills a riverrun server with stored things that once hurt a server: definitions, runs, jobs, triggers.

Runs begin three minutes after they were stored, so that the server that holds them is stopped before it meets
them. Usage: make.py http://127.0.0.1:4600
"""
import json, sys, urllib.request, urllib.error
base = sys.argv[1]
DELAY = 180_000

def post(path, body, expect=(200, 201, 202)):
    data = json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=90) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        print(path, error.code, error.read()[:300].decode())
        return None

def flow(id, steps, **more):
    first = next(iter(steps))
    return post("/api/flows", {"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps, **more})

def start(id, input):
    return post(f"/api/flows/{id}/start", {"input": input, "delayMs": DELAY})

big = "x" * 1_000_000

# A small template that makes gigabytes of a large value: as text, as a list, as an object.
flow("template-text", {"a": {"type": "set", "config": {"value": "${x}" * 3000}}})
flow("template-list", {"a": {"type": "set", "config": {"value": ["${x}"] * 3000}}})
flow("template-object", {"a": {"type": "set", "config": {"value": {f"k{n}": "${x}" for n in range(3000)}}}})
flow("template-input", {"a": {"type": "transform", "config": {"transform": "input.length"},
     "input": {"type": "template", "template": ["${x}${x}"] * 2000}}})
for name in ["text", "list", "object", "input"]:
    start(f"template-{name}", {"x": big})

# State that grows with every visit, and fan-outs whose parts are small and whose whole is not.
flow("loop", {"a": {"type": "set", "config": {"value": ["${v}", "${v}"]}, "outputKey": "v", "transitions": {"onSuccess": "a"}}})
start("loop", {"v": "x"})
flow("map", {"m": {"type": "map", "config": {"step": "s"}, "input": {"type": "key", "key": "n"}, "outputKey": "all"},
     "s": {"type": "set", "config": {"value": "${x}"}}})
start("map", {"x": big, "n": list(range(1000))})

# Schemas: evaluations that double at each level, in place and along the value; patterns that backtrack.
def doubling(levels):
    defs = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    defs[f"l{levels}"] = {"type": "object"}
    return {"$ref": "#/$defs/l0", "$defs": defs}
tree = {"properties": {"c": {"anyOf": [{"$ref": "#/$defs/tree"}, {"$ref": "#/$defs/tree"}]}}, "required": ["no"]}
any_of = {"items": {"anyOf": [{"type": "string"}, {"type": "object"}, {"const": 1}]}}
deep = {"x": 1}
for _ in range(60):
    deep = {"c": deep}
# The run writes the value that the schema is slow on, so that it is met when the run is taken up.
for name, schema, value in [("doubling", {"$ref": "#/$defs/l0"}, {}), ("tree", {"$ref": "#/$defs/tree"}, deep),
                            ("pattern", {"pattern": "^(?=a)(a+)+(b|c)\\1$"}, "a" * 2000), ("any-of", any_of, [True] * 150_000)]:
    flow(f"state-{name}", {"a": {"type": "set", "config": {"value": "${v}"}, "outputKey": "k"}},
         stateSchema={"properties": {"k": schema}, "$defs": {**doubling(40)["$defs"], "tree": tree}})
    start(f"state-{name}", {"v": value})
flow("input-doubling", {"a": {"type": "set", "config": {"value": 1}}}, inputSchema=doubling(40))
post("/api/triggers", {"id": "body-doubling", "type": "http", "flow": "loop", "config": {"path": "/doubling", "bodySchema": doubling(40)}})

# Expressions that never look at the clock.
for n, source in enumerate(["[].reverse.call({length: 2 ** 53 - 1})", "new Array(2 ** 32 - 1).join('')",
                            "Array.prototype.sort.call({length: 2 ** 31})", "('a'.repeat(900000) + 'b').includes('a'.repeat(450000) + 'c')",
                            "/^(a+)+$/.test('a'.repeat(40) + 'b')", "'x'.padStart(2 ** 30)", "(2n ** 30000000n).toString().length"]):
    flow(f"spin-{n}", {"a": {"type": "transform", "config": {"transform": source}}})
    for _ in range(3):
        start(f"spin-{n}", {})

# More steps than a definition may have.
steps = {f"s{n}": {"type": "set", "config": {"value": n}, "transitions": {"onSuccess": f"s{n + 1}" if n < 5999 else None}} for n in range(6000)}
flow("many-steps", steps)
start("many-steps", {})

# Names that name something else.
for name in [".", "..", "latest"]:
    post("/api/queue/emails/jobs", {"data": {}, "options": {"jobId": name, "delayMs": DELAY}})
post("/api/queue/%2e%2e/jobs", {"data": {}, "options": {"delayMs": DELAY}})
post("/api/events/registry/registry", {"type": "odd", "data": 1})
# A step of a process that this server does not have.
flow("no-process", {"a": {"type": "process", "config": {"process": "gone"}}})
start("no-process", {})
