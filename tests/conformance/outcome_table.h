// SPDX-License-Identifier: Apache-2.0
// What became of each case on each device, counted, as a table for the docs.
#ifndef TESTS_CONFORMANCE_OUTCOME_TABLE_H_
#define TESTS_CONFORMANCE_OUTCOME_TABLE_H_

#include <map>
#include <string>
#include <vector>

namespace tritond::conformance {

enum class Outcome { kRight, kRefused, kWrong };  // refused: with the diagnostic that the case expects

// Rows are groups of cases, columns are devices, both in the order in which they first came. Used by one thread.
class OutcomeTable final {
 public:
  // The last outcome of a case on a device counts. `says`: of kRefused, the diagnostic.
  void Add(const std::string& group, const std::string& name, const std::string& device, Outcome outcome,
           const std::string& says = "");

  // Markdown: the table, and a list of the refused cases. Empty when nothing was added.
  std::string ToMarkdown() const;

  // Appends it to the file that the environment variable TRITOND_CONFORMANCE_TABLE names; does nothing without one.
  // Adds a test failure when the file cannot be written.
  void Write() const;

 private:
  struct Result {
    Outcome outcome = Outcome::kWrong;
    std::string says;
  };
  struct Case {
    std::string group, name;
    std::map<std::string, Result> results;  // by device
  };

  std::string Cell(const std::string& group, const std::string& device) const;
  std::string Refusals() const;

  std::vector<std::string> groups_, devices_;
  std::vector<Case> cases_;
};

}  // namespace tritond::conformance

#endif  // TESTS_CONFORMANCE_OUTCOME_TABLE_H_
