"""Writes `src/riverrun/_api`, or the folder that is given, from the server's OpenAPI document.

The types of requests and answers, a function for each operation that makes its request, and a
class of methods for each kind of client. What is committed there is what this gives.

    python3 sdks/python/scripts/generate.py
"""

from __future__ import annotations

import json
import keyword
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = ROOT.parents[1] / "crates/api/openapi.json"
HEAD = "# Generated from crates/api/openapi.json. Do not edit: run `make clients`.\n"
WIDTH = 100
STREAM = "text/event-stream"
NOTHING = {"type": "null"}


@dataclass(frozen=True)
class Parameter:
    name: str
    #: In Python.
    variable: str
    place: str
    type: str
    is_required: bool


@dataclass(frozen=True)
class Operation:
    name: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[Parameter]
    #: The type of the body; empty where there is none.
    body: str
    is_body_required: bool
    answer: str
    is_stream: bool

    def placed(self, place: str) -> list[Parameter]:
        return [parameter for parameter in self.parameters if parameter.place == place]

    def signature(self, types: str) -> list[str]:
        """The parameters as a function declares them: what is required first."""
        needed = [
            f"{parameter.variable}: {parameter.type}"
            for parameter in self.parameters
            if parameter.is_required
        ]
        if self.body and self.is_body_required:
            needed.append(f"body: {types}{self.body}")
        named = [
            f"{parameter.variable}: {parameter.type} | None = None"
            for parameter in self.parameters
            if not parameter.is_required
        ]
        if self.body and not self.is_body_required:
            needed.append(f"body: {types}{self.body} | None = None")
        return [*needed, *(["*", *named] if named else [])]

    def arguments(self) -> list[str]:
        needed = [one.variable for one in self.parameters if one.is_required]
        body = ["body"] if self.body else []
        named = [one.variable for one in self.parameters if not one.is_required]
        return [*needed, *body, *(f"{name}={name}" for name in named)]


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if is_for_clients(path, operation):
                yield read(method, path, operation)


def is_for_clients(path: str, operation: dict[str, Any]) -> bool:
    """Pages, WebSockets and what is not below /api are for browsers and other programs."""
    good = successes(operation)
    is_page = any("text/html" in answer.get("content", {}) for answer in good)
    return path.startswith("/api/") and bool(good) and not is_page


def successes(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [answer for status, answer in operation["responses"].items() if status[0] == "2"]


def read(method: str, path: str, operation: dict[str, Any]) -> Operation:
    parameters: list[Parameter] = []
    given = operation.get("parameters", [])
    # A name that stands in the path and in the query belongs to the path.
    for parameter in sorted(given, key=lambda parameter: parameter["in"] != "path"):
        variable = snake(parameter["name"])
        taken = [other.variable for other in parameters]
        if keyword.iskeyword(variable) or variable in taken:
            variable += "_"
        is_text = parameter["in"] == "query" and parameter["schema"].get("type") == "string"
        type = type_of(parameter["schema"])
        parameters.append(
            Parameter(
                parameter["name"],
                variable,
                parameter["in"],
                "Text" if is_text and type == "str" else type,
                parameter.get("required", False),
            )
        )
    body = operation.get("requestBody", {})
    contents = [answer.get("content", {}) for answer in successes(operation)]
    schemas = [
        content.get("application/json", {"schema": NOTHING})["schema"] for content in contents
    ]
    answers = [type_of(shape) for schema in schemas for shape in schema.get("anyOf", [schema])]
    return Operation(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        parameters=parameters,
        body=type_of(body["content"]["application/json"]["schema"]) if body else "",
        is_body_required=body.get("required", False),
        answer=" | ".join(dict.fromkeys(answers)),
        is_stream=any(STREAM in content for content in contents),
    )


def type_of(schema: dict[str, Any]) -> str:
    """The type of a JSON value."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]".replace("'", '"')
    for key in ("oneOf", "anyOf"):
        parts = [part for part in schema.get(key, []) if set(part) & {"type", "$ref", "enum"}]
        if parts:
            return " | ".join(dict.fromkeys(type_of(part) for part in parts))
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " | ".join(plain(kind, schema) for kind in kinds)


def plain(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        return f"list[{type_of(schema.get('items', {}))}]"
    if kind == "object":
        members = schema.get("additionalProperties")
        return f"dict[str, {type_of(members) if isinstance(members, dict) else 'Any'}]"
    return {
        "string": "str",
        "integer": "int",
        "number": "float",
        "boolean": "bool",
        "null": "None",
        "any": "Any",
    }[kind]


def reachable(document: dict[str, Any], found: list[Operation]) -> dict[str, Any]:
    """The schemas that operations name, and those that these name."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    texts = [f"{operation.body} {operation.answer}" for operation in found]
    open = {name for text in texts for name in re.findall(r"\w+", text)}
    names: set[str] = set()
    while open:
        name = open.pop()
        if name in schemas and name not in names:
            names.add(name)
            open.update(re.findall(r"#/components/schemas/(\w+)", json.dumps(schemas[name])))
    return {name: schemas[name] for name in sorted(names)}


def members(schema: dict[str, Any], schemas: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The members of an object, and which of them are always there."""
    properties, required = dict(schema.get("properties", {})), set(schema.get("required", []))
    for part in schema.get("allOf", []):
        if "$ref" in part:
            part = schemas[part["$ref"].rpartition("/")[2]]
        more, needed = members(part, schemas)
        properties.update(more)
        required |= needed
    return properties, required


def types_file(schemas: dict[str, Any]) -> str:
    lines = [
        HEAD,
        '"""The shapes of requests and answers."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict",
        "",
        "if TYPE_CHECKING:",
        "    from typing_extensions import NotRequired",
        "",
    ]
    for name, schema in schemas.items():
        lines += ["", *type_lines(name, schema, schemas), ""]
    return "\n".join(lines)


def type_lines(name: str, schema: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    properties, required = members(schema, schemas)
    if not properties:
        comment = text_lines(schema.get("description", ""), "", "#: ")
        return [*comment, *wrapped(f"{name}: TypeAlias = ", f'"{type_of(schema)}"')]
    types = {
        member: type_of(shape) if member in required else f"NotRequired[{type_of(shape)}]"
        for member, shape in properties.items()
    }
    about = schema.get("description", "")
    if not all(member.isidentifier() and not keyword.iskeyword(member) for member in properties):
        lines = text_lines(about, "", "#: ")
        lines += [f"{name} = TypedDict(", f'    "{name}",', "    {"]
        for member, shape in properties.items():
            lines += text_lines(shape.get("description", ""), "        ", "#: ")
            lines.append(f'        "{member}": {json.dumps(types[member])},')
        return [*lines, "    },", ")"]
    lines = [f"class {name}(TypedDict):"]
    if about:
        lines += [*doc(about, "    "), ""]
    for member, shape in properties.items():
        lines += text_lines(shape.get("description", ""), "    ", "#: ")
        lines.append(f"    {member}: {types[member]}")
    return lines


def requests_file(found: list[Operation]) -> str:
    bodies = sorted({name for one in found for name in named_types(one.body)}, key=str.lower)
    segments = [one for one in found if one.placed("path")]
    lines = [
        HEAD,
        '"""Each operation as the request that it sends."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, Any, Literal",
        "",
        f"from .._http.request import Request, {'segment' if segments else ''}",
        "",
        "if TYPE_CHECKING:",
        "    from .._http.request import Text",
        *wrapped("    from .types import ", *bodies),
        "",
    ]
    for operation in found:
        head = wrapped(f"def {operation.name}(", *operation.signature(""), end=") -> Request:")
        path = "".join(
            f"{{segment({next(p for p in operation.placed('path') if p.name == part).variable})}}"
            if is_name
            else part
            for is_name, part in pieces(operation.path)
        )
        arguments = [f'"{operation.method}"', f'{"f" if "{" in path else ""}"{path}"']
        query = pairs(operation.placed("query"))
        headers = pairs(operation.placed("header"))
        if operation.is_stream:
            headers.append(f'"accept": "{STREAM}"')
        if query:
            arguments.append(mapping("query", query))
        if operation.body:
            arguments.append("body=body")
        if headers:
            arguments.append(mapping("headers", headers))
        lines += ["", *head, *wrapped("    return Request(", *arguments, end=")"), ""]
    return "\n".join(lines)


def operations_file(found: list[Operation]) -> str:
    plain = [operation for operation in found if not operation.is_stream]
    lines = [
        HEAD,
        '"""Each operation as a method, for both kinds of client."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, Any, Literal",
        "",
        "from . import requests",
        "",
        "if TYPE_CHECKING:",
        "    from .._http import blocking, streams",
        "    from .._http.request import Text",
        "    from . import types",
        "",
    ]
    for name, module, word, wait in (
        ("Api", "blocking", "def", ""),
        ("AsyncApi", "streams", "async def", "await "),
    ):
        about = "The HTTP API of a server: a method for each operation."
        lines += [
            "",
            f"class {name}:",
            f'    """{about}"""',
            "",
            f"    def __init__(self, http: {module}.Http) -> None:",
            "        self._http = http",
            "",
        ]
        for operation in plain:
            lines += method_lines(operation, word, wait)
    return "\n".join(lines)


def method_lines(operation: Operation, word: str, wait: str) -> list[str]:
    signature = ["self", *qualified(operation.signature(""))]
    answer = qualified([operation.answer])[0]
    lines = wrapped(f"    {word} {operation.name}(", *signature, end=f") -> {answer}:")
    end = "" if operation.summary[-1] in ".?" else "."
    lines += doc(f"{operation.summary}{end}\n\n{operation.description}", "        ")
    request = f"requests.{operation.name}("
    sent = f"{wait}self._http.send("
    if operation.answer == "None":
        before = f"        {sent}{request}"
        return [*lines, *wrapped(before, *operation.arguments(), end="))"), ""]
    lines += wrapped(f"        request = {request}", *operation.arguments(), end=")")
    return [
        *lines,
        *wrapped(f"        answer: {answer} = {sent}", "request", end=")"),
        "        return answer",
        "",
    ]


def qualified(texts: list[str]) -> list[str]:
    """The same with the module of our types before their names."""

    def replace(found: re.Match[str]) -> str:
        name = found[0]
        is_ours = name[0].isupper() and name not in ("Any", "Literal", "None", "Text")
        return f"types.{name}" if is_ours else name

    quoted = re.compile(r'("[^"]*")')
    return [
        "".join(
            part if part.startswith('"') else re.sub(r"\b[A-Za-z_]\w*\b", replace, part)
            for part in quoted.split(text)
        )
        for text in texts
    ]


def named_types(text: str) -> list[str]:
    return [name for name in re.findall(r"\b[A-Z]\w*", text) if name not in ("Any", "None")]


def pieces(path: str) -> Iterator[tuple[bool, str]]:
    for at, piece in enumerate(re.split(r"[{}]", path)):
        yield at % 2 == 1, piece


def pairs(parameters: list[Parameter]) -> list[str]:
    return [f'"{parameter.name}": {parameter.variable}' for parameter in parameters]


def mapping(name: str, members: list[str]) -> str:
    """An argument that is a dictionary, over several lines where it is too long."""
    line = f"{name}={{{', '.join(members)}}}"
    if len(line) + 9 <= WIDTH:
        return line
    lines = [f"            {member},\n" for member in members]
    return f"{name}={{\n{''.join(lines)}        }}"


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()


def doc(text: str, indent: str) -> list[str]:
    """A docstring."""
    lines = text_lines(text.strip(), indent, "")
    lines[0] = f'{indent}"""{lines[0][len(indent) :]}'
    if len(lines) == 1 and len(lines[0]) + 3 <= WIDTH:
        return [f'{lines[0]}"""']
    return [*lines, f'{indent}"""']


def text_lines(text: str, indent: str, mark: str) -> list[str]:
    """A text, wrapped; its paragraphs stay apart."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        wrapped = textwrap.wrap(
            " ".join(paragraph.split()),
            WIDTH - len(indent) - len(mark) - 3,
            break_long_words=False,
            break_on_hyphens=False,
        )
        if wrapped:
            lines += [mark.rstrip() and f"{indent}{mark}".rstrip()] if lines else []
            lines += [f"{indent}{mark}{line}" for line in wrapped]
    return [line.replace("\\", "\\\\") if not mark else line for line in lines]


def wrapped(start: str, *parts: str, end: str | None = None) -> list[str]:
    """A line with a list of parts, over several lines where it is too long."""
    close = ")" if end is None else end
    line = start + ", ".join(parts) + ("" if end is None else end)
    if len(line) <= WIDTH and "\n" not in line:
        return [line]
    indent = re.match(" *", start)[0]  # type: ignore[index]
    start = start + "(" if end is None else start
    inner = f"{indent}    {', '.join(parts)}"
    if len(inner) <= WIDTH and "\n" not in inner and end is not None:
        return [start, inner, indent + close]
    return [start, *(f"{indent}    {part}," for part in parts), indent + close]


def main(out: pathlib.Path) -> None:
    document = json.loads(DOCUMENT.read_text())
    found = list(operations(document))
    files = {
        "__init__.py": HEAD + '\n"""The HTTP API of the server."""\n',
        "operations.py": operations_file(found),
        "requests.py": requests_file(found),
        "types.py": types_file(reachable(document, found)),
    }
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.py"):
        old.unlink()
    for name, text in files.items():
        (out / name).write_text(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src/riverrun/_api")
