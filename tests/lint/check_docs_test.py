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

    def problems(self):
        return check_links.check_tree(self.root) + check_prose.check_tree(self.root)

    def expect_one(self, part):
        found = self.problems()
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

    def test_a_comment_of_a_proto_that_is_too_long(self):
        half = " ".join(["word"] * 13)
        self.write("proto/v1/a.proto", f"// {half}\n// {half}.\nint32 {' '.join(['x'] * 30)};  // {half}\n// {half}. {half}\n//\n// {half}\n")
        self.expect_one("proto/v1/a.proto:1: 26 words")

    def test_lines_of_a_table_in_a_comment_are_sentences(self):
        half = " ".join(["word"] * 13)
        self.write("proto/v1/a.proto", f"// NOT_FOUND  {half}\n// INTERNAL   {half}\n// {half}\n")
        self.assertEqual(self.problems(), [])

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

    def test_a_test_that_is_not_there(self):
        self.write("api/two_test.cc", "TEST(Two, ItHolds) {}\n")
        self.write("docs/failures.md", "| a | b | `api/two_test` ItHolds, It…; `two_test` |\n")
        self.assertEqual(self.problems(), [])
        self.write("docs/failures.md", "| a | b | `api/two_test` ItFails |\n")
        self.expect_one("docs/failures.md:1: api/two_test has no case ItFails")
        self.write("docs/failures.md", "| a | b | `three_test` |\n")
        self.expect_one("docs/failures.md:1: there is no three_test")


if __name__ == "__main__":
    unittest.main()
