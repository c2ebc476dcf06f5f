#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""follow_recipe.py ROOT OUT PARTS: adds the family of targets `toy` to copies of ROOT's sources, by the recipe alone.

The commands of the recipe "A target" in docs/extending.md run in OUT, a folder with copies of compiler/targets. Then
the toy's own target is filled in: each block of PARTS is a text of the skeleton and what a vendor writes in its place.
Only what the recipe made or changed stays in OUT. Exits with 1 and the reason when the recipe does not hold.
"""
import pathlib
import re
import shutil
import subprocess
import sys

FAMILY = "compiler/targets"
TARGET = f"{FAMILY}/toy/toy_target.cc"


class RecipeError(Exception):
    pass


def commands_of(page):
    """The commands of the recipe: the block of shell commands in its section."""
    section = re.search(r"^## A target\n(.*?)^## ", page, re.DOTALL | re.MULTILINE)
    block = section and re.search(r"^```sh\n(.*?)^```$", section.group(1), re.DOTALL | re.MULTILINE)
    if not block:
        raise RecipeError('docs/extending.md has no section "A target" with a block of shell commands')
    return block.group(1)


def follow(root, tree):
    """Runs the commands in `tree`, which holds copies of what they change."""
    commands = commands_of((root / "docs/extending.md").read_text())
    done = subprocess.run(["sh", "-euc", commands], cwd=tree, capture_output=True, text=True)
    if done.returncode != 0:
        raise RecipeError(f"the commands of docs/extending.md fail: {done.stderr}")


def fill_in(tree, parts):
    """Replaces texts of the skeleton, each of which must occur once."""
    target = tree / TARGET
    text = target.read_text()
    blocks = re.findall(r"^<<<<\n(.*?)^====\n(.*?)^>>>>$", parts.read_text(), re.DOTALL | re.MULTILINE)
    if not blocks:
        raise RecipeError(f"{parts} has no blocks")
    for old, new in blocks:
        if text.count(old) != 1:
            raise RecipeError(f"{parts}: the skeleton has {text.count(old)} times, and not once:\n{old}")
        text = text.replace(old, new)
    target.write_text(text)


def changed_files(root, tree):
    """Paths of files of `tree` that `root` does not have, or has otherwise."""
    paths = [path.relative_to(tree) for path in sorted(tree.rglob("*")) if path.is_file()]
    return [path for path in paths
            if not (root / path).is_file() or (root / path).read_bytes() != (tree / path).read_bytes()]


def main():
    root, tree, parts = (pathlib.Path(argument) for argument in sys.argv[1:4])
    shutil.rmtree(tree, ignore_errors=True)
    (tree / FAMILY).mkdir(parents=True)
    for path in (root / FAMILY).iterdir():
        if path.is_file():
            shutil.copy(path, tree / FAMILY)
    try:
        follow(root, tree)
        changed = changed_files(root, tree)
        fill_in(tree, parts)
    except RecipeError as error:
        sys.exit(f"follow_recipe.py: {error}")
    for path in [path for path in tree.rglob("*") if path.is_file()]:
        if path.relative_to(tree) not in changed:
            path.unlink()


if __name__ == "__main__":
    main()
