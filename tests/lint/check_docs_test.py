#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds one mistake at a time into a small tree of pages and expects check_links and check_prose to name it."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_links  # noqa: E402
import check_prose  # noqa: E402

LONG = " ".join(["word"] * 26) + ".\n"


class CheckDocsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.write("README.md", "# All\n\nSee [one](docs/one.md#what-it-is), `docs/one.md` and `docs/one`.\n")
        self.write("docs/one.md", "# One\n\n## What `it` is\n\n[Back](../README.md), [here](#one), [there](https://a.example/b).\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def problems(self, not_yet=frozenset()):
        return check_links.check_tree(self.root) + check_prose.check_tree(self.root, set(not_yet))

    def expect_one(self, part, not_yet=frozenset()):
        found = self.problems(not_yet)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_sound_pages_have_no_problems(self):
        self.assertEqual(self.problems(), [])

    def test_a_link_to_a_file_that_is_not_there(self):
        self.write("docs/two.md", "\n[x](three.md)\n")
        self.expect_one("docs/two.md:2: there is no three.md")

    def test_an_anchor_that_no_heading_has(self):
        self.write("docs/two.md", "[x](one.md#what-it-was)\n")
        self.expect_one("one.md#what-it-was")

    def test_a_path_that_is_not_there(self):
        self.write("docs/two.md", "Read `docs/three.md`, not `results/memory`.\n")
        self.expect_one("there is no docs/three.md")

    def test_a_path_of_a_command_that_is_not_there(self):
        self.write("docs/start/two.md", "```sh\ncat docs/three.md docs/one.md\n```\n")
        self.expect_one("docs/start/two.md:2: there is no docs/three.md")

    def test_a_runbook_link_of_an_alert_that_leads_nowhere(self):
        self.write("deploy/prometheus/alerts.yaml", "runbook: docs/one.md#one\nrunbook: docs/one.md#two\n")
        self.expect_one("deploy/prometheus/alerts.yaml: docs/one.md#two")

    def test_a_sentence_that_is_too_long(self):
        self.write("docs/two.md", "Short.\n" + LONG)
        self.expect_one("docs/two.md:2: 26 words")

    def test_long_sentences_in_lists_and_tables_are_found_across_lines(self):
        half = " ".join(["word"] * 13)
        self.write("docs/two.md", f"- {half}\n  {half}\n")
        self.expect_one("docs/two.md:1: 26 words")
        self.write("docs/two.md", f"| a | {half} {half} |\n")
        self.expect_one("docs/two.md:1: 26 words")

    def test_what_is_no_sentence_is_not_counted(self):
        self.write("docs/two.md", f"# {LONG}\n```\n{LONG}```\nSee `{LONG.strip()}` and [one](one.md).\n| {LONG[:60]} | {LONG[:60]} |\n")
        self.assertEqual(self.problems(), [])

    def test_pages_that_do_not_pass_yet_must_be_listed_and_leave_the_list_when_they_do(self):
        self.write("docs/two.md", LONG)
        self.assertEqual(self.problems({"docs/two.md"}), [])
        self.write("docs/two.md", "Short.\n")
        self.expect_one("docs/two.md: passes now", {"docs/two.md"})
        (self.root / "docs/two.md").unlink()
        self.expect_one("docs/two.md: is in NOT_YET", {"docs/two.md"})


if __name__ == "__main__":
    unittest.main()
