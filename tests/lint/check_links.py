#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_links.py [ROOT]: what the READMEs, the pages of docs/ and the runbook links of alerts name exists.

A link leads to a file, and to a heading where it has an anchor. A code span that looks like a path of this repository is one, with
or without its extension; so is such a word of a command in docs/start. docs/failures.md names tests and their cases. Prints one line a problem; exit status 1 when there is any.
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from markdown import anchors, links, pages  # noqa: E402

PATH = re.compile(r"^[\w-]+(/[\w.@-]+)+$")
TEST = re.compile(r"`([\w/]+_test)`([^`|]*)")
CASE = re.compile(r"\b([A-Z][a-z]*[A-Z]\w*|[A-Z]\w*…)(…?)")
RUNBOOK = re.compile(r"^\s*runbook: (\S+)$", re.MULTILINE)


def read(path):
    return path.read_text(encoding="utf-8")


def check_target(root, source, target):
    """What is wrong with a link from the file `source`; None when nothing is."""
    if re.match(r"^[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    path = (root / source.parent / name).resolve() if name else root / source
    if not path.exists():
        return f"there is no {target}"
    if anchor and anchor not in anchors(read(path)):
        return f"{target}: no heading has this anchor"
    return None


def paths_named(text, commands):
    """(line number, path) of what looks like a path in code spans, and with `commands` in the words of fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced and commands:
            yield from ((number, word) for word in line.split() if PATH.match(word))
        elif not fenced:
            yield from ((number, span) for span in re.findall(r"`([^`]+)`", line) if PATH.match(span))


def is_there(root, path):
    return (root / path).exists() or any(path.rpartition("/")[2] == other.stem for other in (root / path).parent.glob("*"))


def check_page(root, page):
    text = read(root / page)
    for number, target in links(text):
        wrong = check_target(root, page, target)
        if wrong:
            yield f"{page}:{number}: {wrong}"
    for number, path in paths_named(text, commands=page.parent == pathlib.Path("docs/start")):
        first = path.split("/")[0]
        # A README names what lies in its own folder, too.
        if (root / first).is_dir() and first not in ("build", "..") and not is_there(root, path) and not is_there(root / page.parent, path):
            yield f"{page}:{number}: there is no {path}"


def check_tests(root, page):
    """Problems of a page whose tables name tests: `name_test` and after it the names of its cases."""
    if not (root / page).exists():
        return
    programs = {}
    for folder in (one for one in root.iterdir() if one.is_dir() and one.name != "build"):
        for path in [*folder.rglob("*_test.cc"), *folder.rglob("*_test.py")]:
            programs[path.stem] = programs.get(path.stem, "") + read(path)
    for number, line in enumerate(read(root / page).splitlines(), 1):
        for name, rest in TEST.findall(line):
            program = programs.get(name.rpartition("/")[2])
            if program is None:
                yield f"{page}:{number}: there is no {name}"
                continue
            yield from (f"{page}:{number}: {name} has no case {case}" for case, _ in CASE.findall(rest.split(";")[0])
                        if case.rstrip("…") not in program)


def check_tree(root):
    """Problems of all pages and alert rules below `root`, a line each."""
    problems = [problem for page in pages(root) for problem in check_page(root, page)]
    problems += check_tests(root, pathlib.Path("docs/failures.md"))
    rules = pathlib.Path("deploy/prometheus/alerts.yaml")
    for target in RUNBOOK.findall(read(root / rules)) if (root / rules).exists() else []:
        wrong = check_target(root, pathlib.Path("alerts.yaml"), target)  # from the root
        if wrong:
            problems.append(f"{rules}: {wrong}")
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)) + "/../..").resolve()
    problems = check_tree(root)
    print("\n".join(problems) if problems else f"links: {len(pages(root))} pages ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
