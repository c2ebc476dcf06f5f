#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_prose.py [ROOT]: no sentence of docs/, of the READMEs and of the comments of proto/v1, which are the API manual, has more
than 25 words. A code span counts as one word.

Prints one line a sentence; exit status 1 when there is any.
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from markdown import blocks, pages, plain  # noqa: E402

MAX_WORDS = 25
TABLE = re.compile(r"\w+\s{2,}\S")
END = re.compile(r"[.!?][\"')\]*]*$")


def sentences(block):
    """(line number, words) of each sentence of a block. A sentence ends with the block, too."""
    line, words = block[0][0], []
    for number, text in block:
        for word in plain(text).split():
            if not words:
                line = number
            if re.search(r"\w", word):
                words.append(word)
            if END.search(word) and words:
                yield line, words
                words = []
    if words:
        yield line, words


def long_sentences(text):
    """(line number, words) of the sentences of a page that are too long."""
    return [(line, words) for block in blocks(text) for line, words in sentences(block) if len(words) > MAX_WORDS]


def comments(text):
    """The comments of a .proto file as a page. A comment after code, and a line of a table, is a paragraph of its own."""
    lines, last = [], ""
    for line in text.splitlines():
        match = re.match(r"(.*?)//\s?(.*)", line)
        code, comment = match.groups() if match else ("", "")
        kind = "table" if TABLE.match(comment) else "code" if code.strip() else "text"
        lines.append(f"- {comment}" if comment and (kind != "text" or last != kind) else comment)
        last = kind
    return "\n".join(lines)


def texts(root):
    """(path below `root`, text) of every page, and of the comments of every .proto file."""
    for page in pages(root):
        yield page, (root / page).read_text(encoding="utf-8")
    for path in sorted(root.glob("proto/v1/*.proto")):
        yield path.relative_to(root), comments(path.read_text(encoding="utf-8"))


def check_tree(root):
    """Problems of all texts below `root`, a line each."""
    return [f"{path}:{line}: {len(words)} words, at most {MAX_WORDS}: {' '.join(words[:8])} …" for path, text in texts(root)
            for line, words in long_sentences(text)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)) + "/../..").resolve()
    problems = check_tree(root)
    print("\n".join(problems) if problems else f"prose: {len(list(texts(root)))} texts ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
