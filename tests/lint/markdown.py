# SPDX-License-Identifier: Apache-2.0
"""Reads the Markdown of this repository: its pages, their blocks of text, their headings and links."""
import pathlib
import re

ITEM = re.compile(r"^\s*([-*+]|\d+\.)\s+")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


def pages(root):
    """The README files and the pages of docs/, as paths below `root`; what a build leaves is not among them."""
    found = [path.relative_to(root) for path in root.rglob("README.md")]
    found += [path.relative_to(root) for path in root.glob("*.md")] + [path.relative_to(root) for path in root.glob("docs/**/*.md")]
    return sorted({path for path in found if path.parts[0] != "build" and not any(part.startswith(".") for part in path.parts)})


def outside_code(text):
    """(line number, line) of what stands outside of fenced blocks."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"^\s*(```+|~~~+)", line)
        if mark and fence is None:
            fence = mark.group(1)
        elif fence is not None:
            fence = None if mark and mark.group(1).startswith(fence) else fence
        else:
            yield number, line


def blocks(text):
    """[[(line number, line)]]: paragraphs, items of lists and cells of tables. Headings and code are left out."""
    found, current, last = [], [], 0

    def end():
        if current:
            found.append(list(current))
        current.clear()

    for number, line in outside_code(text):
        if number != last + 1 or not line.strip() or line.startswith("#"):
            end()
        last = number
        if not line.strip() or line.startswith("#"):
            continue
        if line.lstrip().startswith("|"):
            end()
            found += [[(number, cell)] for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            continue
        if ITEM.match(line):
            end()
        current.append((number, ITEM.sub("", line)))
    end()
    return found


def plain(line):
    """The line as a reader sees it: a link is its text, a code span one word, and so is a number in groups of three digits."""
    line = re.sub(r"(?<=\d) (?=\d{3}\b)", "", re.sub(r"`[^`]*`", "code", line))
    return re.sub(r"[*_]{2}", "", LINK.sub(r"\1", line))


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for _, line in outside_code(text):
        heading = re.match(r"^#+\s+(.*)", line)
        if heading:
            words = LINK.sub(r"\1", heading.group(1)).replace("`", "").lower()
            anchor = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
            count = sum(1 for one in found if one == anchor or re.fullmatch(re.escape(anchor) + r"-\d+", one))
            found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(text):
    """(line number, target) of every link outside of code."""
    for number, line in outside_code(text):
        for match in LINK.finditer(re.sub(r"`[^`]*`", "code", line)):
            yield number, match.group(2)
