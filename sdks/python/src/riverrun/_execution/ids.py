"""Ids of the jobs that steps add."""

from __future__ import annotations

import hashlib
import re


def job_id(text: str) -> str:
    """The form that ids of jobs have, made of any text."""
    plain = text.replace("/", ".")
    if re.fullmatch(r"[A-Za-z0-9_.~-]{1,128}", plain):
        return plain
    return f"step-{hashlib.sha256(text.encode()).hexdigest()}"
