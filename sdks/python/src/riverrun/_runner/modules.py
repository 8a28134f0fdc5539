"""Loading the user's files.

A file's processes are found in this order:

1. the function `handler`, else the function `default`, else the only function with a decorator,
   else (if nothing has a decorator) the function `main`, is the export `default`;
2. every other function with a decorator is an export under its own name.

The module's `config` and `queue` describe the default export; a decorator's config goes before.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from .._failure import message_of, stack_of
from ..define import definition_of
from ..errors import RiverrunError
from .describe import config_json
from .handler import Handler

DEFAULT = "default"


@dataclass(frozen=True)
class Module:
    """A file that was loaded."""

    revision: int
    handlers: dict[str, Handler]
    processes: list[dict[str, Any]]


class LoadError(RiverrunError):
    """A file that could not be loaded, with the traceback of the user's code."""

    def __init__(self, message: str, code: str, stack: str) -> None:
        super().__init__(message, code=code, retriable=False)
        self.stack = stack


def load(file: str, revision: int) -> Module:
    """Imports a file and looks at what it has. Raises `LoadError`."""
    try:
        module = _import(file)
        return _described(module, revision)
    except BaseException as error:
        code = "MODULE_SYNTAX" if isinstance(error, SyntaxError) else "MODULE_ERROR"
        raise LoadError(f"{file}: {message_of(error)}", code, stack_of(error)) from error


class _Loader(SourceFileLoader):
    """Compiles the source as it is: a cached file can be older than what was just saved."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _import(file: str) -> ModuleType:
    stem = os.path.splitext(os.path.basename(file))[0]
    mark = hashlib.blake2s(file.encode(errors="surrogateescape"), digest_size=6).hexdigest()
    name = f"riverrun_process_{stem}_{mark}"
    spec = importlib.util.spec_from_file_location(name, file, loader=_Loader(name, file))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _described(module: ModuleType, revision: int) -> Module:
    exports = _exports(module)
    handlers = {export: Handler(found, name) for export, (name, found) in exports.items()}
    processes = []
    for export, (_, function) in exports.items():
        configs: list[Any] = []
        if export == DEFAULT:
            queue = getattr(module, "queue", None)
            # A module may well `import queue`.
            configs += [{"queue": queue} if isinstance(queue, str) else None]
            configs += [getattr(module, "config", None)]
        definition = definition_of(function)
        configs += [definition.config if definition else None]
        processes.append({"export": export, "config": config_json(*configs)})
    return Module(revision, handlers, processes)


def _exports(module: ModuleType) -> dict[str, tuple[str, Any]]:
    decorated = {
        name: value
        for name, value in vars(module).items()
        if definition_of(value) and getattr(value, "__module__", None) == module.__name__
    }
    candidates = ["handler", DEFAULT]
    candidates += list(decorated) if len(decorated) == 1 else []
    candidates += [] if decorated else ["main"]
    exports: dict[str, tuple[str, Any]] = {}
    chosen = next((name for name in candidates if callable(getattr(module, name, None))), None)
    if chosen is not None:
        exports[DEFAULT] = (chosen, getattr(module, chosen))
    for name, value in decorated.items():
        if name != chosen:
            exports[name] = (name, value)
    return exports
