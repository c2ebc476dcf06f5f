#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_prose.py [ROOT]: no sentence of docs/ and the READMEs has more than 25 words. A code span counts as one word.

Prints one line a sentence; exit status 1 when there is any.
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from markdown import blocks, pages, plain  # noqa: E402

MAX_WORDS = 25
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


def check_tree(root):
    """Problems of all pages below `root`, a line each."""
    return [f"{page}:{line}: {len(words)} words, at most {MAX_WORDS}: {' '.join(words[:8])} …" for page in pages(root)
            for line, words in long_sentences((root / page).read_text(encoding="utf-8"))]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)) + "/../..").resolve()
    problems = check_tree(root)
    print("\n".join(problems) if problems else f"prose: {len(pages(root))} pages ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
