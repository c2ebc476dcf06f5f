// SPDX-License-Identifier: Apache-2.0
// The main of a program that holds the tests of many files, which share one copy of LLVM.
//
//   compiler-tests [FILE…] [--gtest_filter=…]
//
// FILE is the end of the path of a test's source, without ".cc": driver/options_test. With no FILE all tests run, in
// one process. A FILE without tests ends the program with status 2, so that no ctest entry passes because it runs
// nothing.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace {

// Where the test is written, without ".cc"; a leading slash lets a name start at any folder.
std::string FileOf(const testing::TestInfo& test) {
  const std::string file = test.file();
  return "/" + file.substr(0, file.rfind(".cc"));
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<const testing::TestInfo*> AllTests() {
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  std::vector<const testing::TestInfo*> tests;
  for (int i = 0; i < program.total_test_suite_count(); ++i)
    for (int j = 0; j < program.GetTestSuite(i)->total_test_count(); ++j)
      tests.push_back(program.GetTestSuite(i)->GetTestInfo(j));
  return tests;
}

// The caller's own filter as GoogleTest prints it; the one that selects files has a line for each test.
class ShowFilter final : public testing::EmptyTestEventListener {
 public:
  explicit ShowFilter(std::string filter) : filter_(std::move(filter)) {}
  void OnTestProgramStart(const testing::UnitTest&) override { GTEST_FLAG_SET(filter, filter_); }

 private:
  const std::string filter_;
};

// Leaves out what is in none of `files`; false, and a message, when one of them has no test.
bool SelectFiles(const std::vector<std::string>& files) {
  std::set<std::string> unknown(files.begin(), files.end());
  std::string left_out;
  for (const testing::TestInfo* test : AllTests()) {
    bool selected = false;
    for (const std::string& file : files) {
      if (!EndsWith(FileOf(*test), "/" + file)) continue;
      selected = true;
      unknown.erase(file);
    }
    if (!selected) left_out += std::string(":") + test->test_suite_name() + "." + test->name();
  }
  for (const std::string& file : unknown) std::fprintf(stderr, "no test of this program is in %s.cc\n", file.c_str());
  const std::string filter = GTEST_FLAG_GET(filter);
  testing::UnitTest::GetInstance()->listeners().Append(new ShowFilter(filter));
  GTEST_FLAG_SET(filter, filter + (filter.find('-') == std::string::npos ? "-" : "") + left_out);
  return unknown.empty();
}

// Tests are selected by name, and GoogleTest runs both of two tests with one name.
bool NamesAreUnique() {
  std::set<std::string> names;
  bool unique = true;
  for (const testing::TestInfo* test : AllTests()) {
    const std::string name = std::string(test->test_suite_name()) + "." + test->name();
    if (names.insert(name).second) continue;
    std::fprintf(stderr, "%s:%d: %s is the name of two tests\n", test->file(), test->line(), name.c_str());
    unique = false;
  }
  return unique;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!NamesAreUnique()) return 2;
  if (argc > 1 && !SelectFiles({argv + 1, argv + argc})) return 2;
  return RUN_ALL_TESTS();
}
