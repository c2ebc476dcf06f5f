# SPDX-License-Identifier: Apache-2.0
"""Lines of Python that lines of MLIR text come from, by the locations that are printed with it."""
from __future__ import annotations

import re
import typing

_PLACE = re.compile(r'"([^"]+)":(\d+):(\d+)')
_NAME = re.compile(r"#loc\d*")
_TRAILING = re.compile(r"loc\((.*)\)\s*$")
_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)\s*$", re.MULTILINE)


def python_place(text: str, line: int) -> str:
    """"kernel.py:12:4" for a line (from 1) of MLIR text; "" where it does not say."""
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return ""
    trailing = _TRAILING.search(lines[line - 1])
    if not trailing:
        return ""
    definitions = dict(_DEFINITION.findall(text))
    location, seen = trailing.group(1), set()
    for _ in range(20):  # an alias of an alias, …: never without end
        place = _PLACE.search(location)
        if place:
            return ":".join(place.groups())
        name = next((n for n in _NAME.findall(location) if n not in seen), None)
        if name is None:
            return ""
        seen.add(name)
        location = definitions.get(name, "")
    return ""


def describe(text: str, diagnostics: typing.Iterable[typing.Any]) -> str:
    """The errors among `diagnostics` (messages Diagnostic), one a line, each with its line of Python."""
    lines = []
    for diagnostic in diagnostics:
        if diagnostic.severity > 1:  # warnings and remarks
            continue
        place = python_place(text, diagnostic.line)
        lines.append(f"{place}: error: {diagnostic.message}" if place else f"error: {diagnostic.message}")
    return "\n".join(lines)
