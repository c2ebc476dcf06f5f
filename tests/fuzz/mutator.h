// SPDX-License-Identifier: Apache-2.0
// Changes to the text of a kernel at any stage that leave most of it as it was. They are other numbers, types, shapes,
// operations and operands, lines gone, doubled or from elsewhere, and plain noise.
#ifndef TESTS_FUZZ_MUTATOR_H_
#define TESTS_FUZZ_MUTATOR_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tritond::tests {

class Mutator {
 public:
  // `corpus` gives lines and words to borrow; it must outlive this.
  Mutator(uint64_t seed, const std::vector<std::string>& corpus) : random_(seed), corpus_(corpus) {}

  // One to several changes.
  std::string Mutate(std::string text);
  // 0 … n - 1.
  size_t Below(size_t n) { return random_() % n; }

 private:
  struct Span {
    size_t begin, length;
  };
  using Change = void (Mutator::*)(std::string&);

  template <typename T>
  const T& OneOf(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }
  // Whole words of the text whose characters all satisfy `inside` and whose first satisfies `first`.
  static std::vector<Span> Words(const std::string& text, bool (*first)(char), bool (*inside)(char));
  void Replace(std::string& text, const std::vector<Span>& spans, const std::string& with);
  std::string BorrowedLine();

  void ChangeNumber(std::string& text);
  void ChangeNumberEverywhere(std::string& text);
  void ChangeType(std::string& text);
  void ChangeTypeEverywhere(std::string& text);
  void ChangeShape(std::string& text);
  void ChangeOperation(std::string& text);
  void ChangeOperand(std::string& text);
  void ChangeKeyword(std::string& text);
  void ChangeLines(std::string& text);
  void DropBraces(std::string& text);
  void InsertLine(std::string& text);
  void ChangeBytes(std::string& text);
  void Nest(std::string& text);

  std::mt19937_64 random_;
  const std::vector<std::string>& corpus_;
};

}  // namespace tritond::tests

#endif  // TESTS_FUZZ_MUTATOR_H_
