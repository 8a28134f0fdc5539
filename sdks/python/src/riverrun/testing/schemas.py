"""The schemas of a process, held against what goes into a handler and comes out of it.

As the server does it: by the JSON Schema that a config becomes, whatever its schemas are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import RiverrunError

#: What breaks a schema: `path`, `rule` and `message`.
Issue = dict[str, str]
#: Everything that is wrong with a value.
Check = Callable[[Any], list[Issue]]

#: Messages quote the whole value.
_LONGEST = 300
#: In these drafts a format is a rule, in later ones a remark.
_WITH_FORMATS = ("draft-04", "draft-06", "draft-07")


def _nothing(value: Any) -> list[Issue]:
    return []


@dataclass(frozen=True)
class Checks:
    input: Check = _nothing
    output: Check = _nothing
    state: Check = _nothing


def checks_of(config: Mapping[str, Any], schemas: bool = True) -> Checks:
    """What the schemas of a config, as JSON, check."""

    def check(name: str) -> Check:
        schema = config.get(name)
        return _nothing if schema is None or not schemas else compile_schema(schema, name)

    return Checks(check("inputSchema"), check("outputSchema"), check("state"))


def check_input(checks: Checks, input: Any, what: str = "the input") -> None:
    """Raises what the server refuses an input with."""
    _refuse("INPUT_INVALID", f"{what} breaks the schema", checks.input(input), False)


def check_output(checks: Checks, value: Any, what: str = "the result") -> Any:
    """Gives a result back, or raises what it fails with on the server."""
    _refuse("OUTPUT_INVALID", f"{what} breaks the output schema", checks.output(value), False)
    return value


def check_inputs(checks: Checks, inputs: Sequence[Any]) -> None:
    """On the server each job of a batch is checked when it is added."""
    for at, input in enumerate(inputs):
        check_input(checks, input, f"the input of job {at}")


def check_outputs(checks: Checks, results: list[Any]) -> list[Any]:
    """One for each job of a batch; an exception is the error of its job."""
    for at, one in enumerate(results):
        if not isinstance(one, BaseException):
            check_output(checks, one, f"the result of job {at}")
    return results


def check_write(checks: Checks, before: Any, after: Any) -> None:
    """Raises if a write makes something of a state wrong that was not wrong before. Keys that the
    state does not have yet may still come.
    """
    issues = [one for one in checks.state(after) if "." in one["path"] or one["rule"] != "required"]
    if issues:
        known = checks.state(before)
        issues = [one for one in issues if one not in known]
    _refuse("STATE_INVALID", "the write breaks the state's schema", issues, None)


def compile_schema(schema: Any, name: str) -> Check:
    try:
        from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
        from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
        from jsonschema.validators import validator_for  # type: ignore[import-untyped]
        from jsonschema_specifications import REGISTRY
        from referencing.exceptions import Unresolvable
    except ImportError:
        message = (
            f"config.{name} is checked with jsonschema 4.18 or newer, which is not installed: "
            "pip install 'riverrun[test]', or give schemas=False to check nothing"
        )
        raise ModuleNotFoundError(message, name="jsonschema") from None
    draft = validator_for(schema, default=Draft202012Validator)
    try:
        draft.check_schema(schema)
    except SchemaError as error:
        raise _no_schema(name, error.message) from None
    named = str(draft.META_SCHEMA.get("$schema"))
    formats = draft.FORMAT_CHECKER if any(old in named for old in _WITH_FORMATS) else None
    # Nothing is fetched.
    validator = draft(schema, registry=REGISTRY, format_checker=formats)

    def check(value: Any) -> list[Issue]:
        try:
            return [_issue(error) for error in validator.iter_errors(value)]
        except Unresolvable:
            message = "it refers to another document: put that schema into this one, under $defs"
            raise _no_schema(name, message) from None

    return check


def _issue(error: Any) -> Issue:
    message = str(error.message)
    parts = [str(part) for part in error.absolute_path]
    if error.validator == "required":
        # A field that is missing has its own path, not its parent's. Only the message names it.
        fields = (field for field in error.validator_value if message.startswith(repr(field)))
        parts.extend(fields)
    return {
        "path": ".".join(parts),
        "rule": str(error.validator),
        "message": message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…",
    }


def _refuse(code: str, what: str, issues: list[Issue], retriable: bool | None) -> None:
    if not issues:
        return
    path, message = issues[0]["path"], issues[0]["message"]
    where = f' at "{path}"' if path else ""
    raise RiverrunError(
        f"{what}{where}: {message}", code=code, retriable=retriable, details={"issues": issues}
    )


def _no_schema(name: str, why: str) -> RiverrunError:
    return RiverrunError(f"config.{name} is no JSON Schema: {why}", code="PROCESS_INVALID")
