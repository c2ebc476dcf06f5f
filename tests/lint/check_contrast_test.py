#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds check_contrast against known contrasts, and plants one unreadable text at a time into the real page."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_contrast  # noqa: E402

PAGE = check_contrast.PAGE.read_text(encoding="utf-8")


class CheckContrastTest(unittest.TestCase):
    def problems(self, old, new):
        self.assertIn(old, PAGE)
        return sorted(set(check_contrast.problems_of(PAGE.replace(old, new, 1))))

    def test_known_contrasts(self):
        for one, other, ratio in (("#000000", "#ffffff", 21.0), ("#767676", "#ffffff", 4.54), ("#ff0000", "#ffffff", 4.0)):
            self.assertAlmostEqual(check_contrast.contrast(check_contrast.channels(one), check_contrast.channels(other)), ratio, delta=0.01)
        half = check_contrast.over(check_contrast.channels("#00000080"), check_contrast.channels("#ffffff"))
        self.assertAlmostEqual(half[0], 0.5, delta=0.01)

    def test_the_page_is_readable(self):
        self.assertEqual(list(check_contrast.problems_of(PAGE)), [])

    def test_a_pale_colour_is_named_in_its_scheme(self):
        found = self.problems("--soft: #5c6472", "--soft: #9aa3b2")
        self.assertTrue(found and all(one.startswith("light: ") for one in found), found)
        self.assertTrue(any(".tile .note" in one for one in found), found)
        self.assertTrue(all(one.startswith("dark: ") for one in self.problems("--ink: #e5e8ee", "--ink: #5c6472")))

    def test_a_background_of_its_own_and_an_opacity_count(self):
        self.assertTrue(self.problems("--ok-soft: #156b3f1f", "--ok-soft: #156b3f90"))
        self.assertTrue(self.problems("--warn-soft: #8352001f", "--warn-soft: #835200"))  # what a notice is written on
        self.assertTrue(self.problems("color: var(--soft); user-select: none;", "color: var(--soft); opacity: .7; user-select: none;"))

    def test_marked_lines_keep_their_numbers_readable(self):
        self.assertTrue(self.problems("pre span.hit::before { color: var(--ink); }", ""))

    def test_a_colour_without_a_name_is_not_taken(self):
        self.assertIn(".soft: its colour is no variable", self.problems(".soft { color: var(--soft); }", ".soft { color: #777; }"))


if __name__ == "__main__":
    unittest.main()
