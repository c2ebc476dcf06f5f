// SPDX-License-Identifier: Apache-2.0
// Whether texts that share a key mean the same kernel. MLIR's parser says what a text means.
#ifndef TESTS_FUZZ_KEY_CHECK_H_
#define TESTS_FUZZ_KEY_CHECK_H_

#include <memory>
#include <string>

namespace tritond::tests {

class KeyCheck final {
 public:
  enum class Verdict {
    kSame,     // the text and its canonical text are one module, and so is what the semantic key is made of
    kNoIr,     // MLIR does not take the text
    kRefused,  // MLIR takes the text, which has no canonical text: an error for its caller, no wrong kernel
    kDiffers   // two modules under one key
  };

  KeyCheck();
  ~KeyCheck();

  // Of a ttir or ttgir text. May crash as MLIR's parser may.
  Verdict Check(const std::string& text);
  // Of the latest kDiffers: what differs.
  const std::string& why() const { return why_; }

 private:
  struct State;
  const std::unique_ptr<State> state_;
  std::string why_;
};

}  // namespace tritond::tests

#endif  // TESTS_FUZZ_KEY_CHECK_H_
