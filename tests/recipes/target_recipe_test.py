#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the recipe "A target" of docs/extending.md in a copy of the whole tree, and holds it to what it says:
target_recipe_test.py CMAKE. It touches the files that it names, lints pass, a neutral folder that names the new vendor
is refused, and CMake builds the new folder into the compiler's programs. toy_target_test.cc compiles the result.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import follow_recipe

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINT = ROOT / "tests/lint"
sys.path.insert(0, str(LINT))
import check_layers  # noqa: E402
import check_vendors  # noqa: E402

CMAKE = "cmake"


class TargetRecipeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tree = pathlib.Path(folder.name) / "tree"
        for path in check_layers.list_files(str(ROOT)):
            (cls.tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, cls.tree / path)
        follow_recipe.follow(ROOT, cls.tree)
        cls.changed = {str(path) for path in follow_recipe.changed_files(ROOT, cls.tree)}
        follow_recipe.fill_in(cls.tree, ROOT / "tests/recipes/toy_parts.txt")

    def lint(self, script):
        return subprocess.run([sys.executable, LINT / script, self.tree], capture_output=True, text=True)

    def test_it_changes_two_files_and_adds_a_folder(self):
        folder = "compiler/targets/toy/"
        self.assertEqual(self.changed, {"compiler/targets/CMakeLists.txt", "compiler/targets/targets.cc",
                                        folder + "CMakeLists.txt", folder + "toy_target.cc", folder + "toy_target.h"})

    def test_nothing_of_the_skeletons_name_is_left(self):
        for name in ("toy_target.cc", "toy_target.h"):
            text = (self.tree / "compiler/targets/toy" / name).read_text()
            self.assertNotRegex(text, r"\bnull\b(?! where)|\bNull[A-Z]|NULL_TARGET|null_target\.h")

    def test_the_layers_lint_passes(self):
        done = self.lint("check_layers.py")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_vendors_lint_passes(self):
        done = self.lint("check_vendors.py")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_neutral_folder_that_names_the_vendor_is_refused(self):
        for folder in check_vendors.FOLDERS:
            for line in ("return kToyTarget;", 'if (name == "toy") {}', "toy::Load();", "#define TOY_LANES 8"):
                path = self.tree / folder / "says_too_much.cc"
                path.write_text("// The toy may be named in comments.\nint toys, atoy;\n" + line + "\n")
                done = self.lint("check_vendors.py")
                path.unlink()
                self.assertEqual(done.returncode, 1, folder + ": " + line)
                self.assertIn(f"{folder}/says_too_much.cc:3: names '", done.stdout)
                self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)

    def test_only_the_list_of_targets_may_include_it(self):
        path = self.tree / "compiler/targets/says_too_much.cc"
        path.write_text('// SPDX-License-Identifier: Apache-2.0\n#include "compiler/targets/toy/toy_target.h"\n')
        done = self.lint("check_layers.py")
        path.unlink()
        self.assertIn("says_too_much.cc:2", done.stdout)

    def test_cmake_builds_it_into_the_programs(self):
        build = self.tree / "build"
        done = subprocess.run([CMAKE, "-S", self.tree, "-B", build, "-G", "Ninja", "-DTRITOND_FOLDERS=timing;compiler"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        inputs = subprocess.run(["ninja", "-C", build, "-t", "inputs", "bin/triton-opt"],
                                capture_output=True, text=True)
        self.assertEqual(inputs.returncode, 0, inputs.stderr)
        self.assertIn("compiler/targets/toy/toy_target.cc", inputs.stdout)


if __name__ == "__main__":
    CMAKE = sys.argv.pop(1) if len(sys.argv) > 1 else CMAKE
    unittest.main()
