#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds one violation at a time into a small clean tree and expects check_layers to name it."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_layers  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def header(guard, body=""):
    return f"{SPDX}#ifndef {guard}\n#define {guard}\n{body}#endif\n"


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("cache/api/cache.h", header("CACHE_API_CACHE_H_"))
        self.write("cache/store/memory_store.cc", SPDX + '#include "cache/api/cache.h"\n#include "absl/x/y.h"\n')
        self.write("cache/store/memory_store_test.cc", SPDX + '#include "tests/support/cache_contract.h"\n')

    def write(self, path, text):
        full = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def violations(self):
        return check_layers.check_tree(self.folder.name)

    def expect_one(self, part):
        found = self.violations()
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.violations(), [])

    def test_an_include_against_the_table_is_named_with_its_line(self):
        self.write("cache/api/x.cc", SPDX + '\n#include "cache/store/memory_store.h"\n')
        self.expect_one("cache/api/x.cc:3:")

    def test_the_daemon_must_not_know_llvm(self):
        self.write("server/app/main.cc", SPDX + '#include "llvm/ADT/StringRef.h"\n')
        self.expect_one("server must not know llvm")

    def test_the_scheduler_must_not_know_grpc(self):
        self.write("server/scheduler/queue.cc", SPDX + '#include "grpcpp/grpcpp.h"\n')
        self.expect_one("must not know grpcpp")

    def test_tablegen_includes_are_checked(self):
        self.write("compiler/layout/x.td", SPDX + 'include "compiler/ir/ops.td"\n')
        self.expect_one("compiler/layout must not include compiler/ir")

    def test_only_the_list_of_targets_knows_a_vendor(self):
        self.write("compiler/targets/targets.cc", SPDX + '#include "compiler/targets/amd/amd_target.h"\n')
        self.write("compiler/targets/nvidia/x.cc", SPDX + '#include "compiler/targets/amd/amd_target.h"\n')
        self.expect_one("compiler/targets/nvidia/x.cc:2:")

    def test_product_code_must_not_include_tests(self):
        self.write("cache/store/y.cc", SPDX + '#include "tests/support/cache_contract.h"\n')
        self.expect_one("must not include tests/support")

    def test_an_include_relative_to_the_file_is_refused(self):
        self.write("cache/store/y.cc", SPDX + '#include "memory_store.h"\n')
        self.expect_one("repository root")

    def test_a_missing_spdx_line_is_named(self):
        self.write("cache/store/y.cc", "int x;\n")
        self.expect_one("SPDX")

    def test_a_script_may_start_with_its_interpreter(self):
        self.write("tests/lint/y.py", "#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n")
        self.assertEqual(self.violations(), [])

    def test_long_files_stop(self):
        self.write("cache/api/long.h", header("CACHE_API_LONG_H_", "\n" * 300))
        self.expect_one("stop at 300")

    def test_an_empty_word_in_a_name_is_refused(self):
        self.write("cache/store/store_utils.cc", SPDX)
        self.expect_one('"utils"')

    def test_code_outside_the_second_level_is_refused(self):
        self.write("cache/x.cc", SPDX)
        self.expect_one("second level")

    def test_an_unknown_folder_is_refused(self):
        self.write("cache/extra/x.cc", SPDX)
        self.expect_one("not in the table")

    def test_a_wrong_header_guard_is_named(self):
        self.write("cache/api/y.h", header("Y_H"))
        self.expect_one("CACHE_API_Y_H_")

    def test_a_path_of_one_machine_is_refused(self):
        self.write("docs/x.md", "see /" + "root/x\n")
        self.expect_one("docs/x.md:1:")


if __name__ == "__main__":
    unittest.main()
