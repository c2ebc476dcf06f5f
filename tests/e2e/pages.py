# SPDX-License-Identifier: Apache-2.0
"""Commands of the documentation's pages, and what their outputs may differ in.

A block of ```console holds commands that a test runs: each begins with "$ ", and its output follows. `…` in an output stands for
any text, a line with nothing else for any lines. Commands of blocks without a language, of ```sh and of ```console must be ones
that the programs take.
"""
import re
import shlex

PROGRAMS = ("tritond", "triton-client", "triton-worker")
OPERATORS = re.compile(r"(?:&&|\|\||[;|&()])+")


def code_blocks(text):
    """(language, number of the first line inside, lines) of each fenced block."""
    found, block = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if block is None:
                block = (line[3:].strip(), number + 1, [])
            else:
                found.append(block)
                block = None
        elif block is not None:
            block[2].append(line)
    return found


def named_files(text):
    """{name: content} of the ```python blocks that begin with "# NAME"."""
    found = {}
    for language, _, lines in code_blocks(text):
        if language == "python" and lines and re.fullmatch(r"# \w+\.py", lines[0]):
            found[lines[0][2:]] = "\n".join(lines) + "\n"
    return found


def steps(text):
    """[(line number, command, expected lines)] of a page's ```console blocks."""
    found = []
    for language, first, lines in code_blocks(text):
        if language != "console":
            continue
        for number, line in enumerate(lines, first):
            if line.startswith("$ "):
                found.append((number, line[2:], []))
            else:
                found[-1][2].append(line)
    return found


def program_commands(text):
    """(line number, words) of each command of tritond, triton-client and triton-worker in a page's blocks."""
    for language, first, lines in code_blocks(text):
        if language not in ("", "sh", "console"):
            continue
        for number, line in enumerate(lines, first):
            if language == "console" and not line.startswith("$ "):
                continue
            for command in split_commands(line.removeprefix("$ ")):
                yield number, command


def split_commands(line):
    """The commands of our programs in a line of shell, each as its words, without redirections and comments."""
    arguments = re.search(r"TRITON_WORKER_ARGUMENTS=([^']*)'", line)
    if arguments:
        return [["triton-worker", *arguments.group(1).split()]]
    found, current = [], []
    lexer = shlex.shlex(re.sub(r"\d*>+&?\s*[^\s;|&]+", " ", line.replace("'", "")), posix=True, punctuation_chars=True)
    lexer.wordchars += "…:,@{}[]<>$"
    for word in [*lexer, ";"]:
        if not OPERATORS.fullmatch(word):
            current.append(word)
            continue
        names = [i for i, word in enumerate(current) if word.rsplit("/", 1)[-1] in PROGRAMS]
        if names and all(is_prefix(word) for word in current[:names[0]]):
            found.append([current[names[0]].rsplit("/", 1)[-1], *current[names[0] + 1:]])
        current = []
    return found


def is_prefix(word):
    """Whether a program may follow this word: a variable's value, sudo, or what runs a command after `--`."""
    return "=" in word or word in ("sudo", "--") or word.endswith("try_cluster.py")


def normal(line):
    """The line without what differs from run to run: keys, numbers, the width of columns."""
    line = re.sub(r"\b[0-9a-f]{12,64}\b", "KEY", line.rstrip())
    return re.sub(r"\s+", " ", re.sub(r"\d+(?:\.\d+)?", "N", line))


def agree(expected, actual):
    """Whether a command's lines are those that a page shows. Without `…` their order does not matter: kernels compile side by side."""
    expected, actual = [normal(line) for line in expected if line.strip()], [normal(line) for line in actual if line.strip()]
    if not any("…" in line for line in expected):
        return sorted(expected) == sorted(actual)
    pattern = "".join("(?:.*\n)*" if line.strip() == "…" else re.escape(line).replace("…", ".*") + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None
