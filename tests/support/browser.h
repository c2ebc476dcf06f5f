// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_BROWSER_H_
#define TESTS_SUPPORT_BROWSER_H_

#include <string>

namespace tritond::tests {

// Chromium without a screen, for tests of pages. Where the machine has none, available() is false and tests skip.
class Browser final {
 public:
  // Keeps its profile in `folder`.
  explicit Browser(std::string folder);
  bool available() const { return !program_.empty(); }
  // The document as its scripts have made it after some seconds of its own time, which passes faster than ours; "" when
  // the browser failed. The page's console goes to the log.
  std::string Dump(const std::string& url) const;
  // The same, again until `text` is there, at most five times: on a busy machine the browser's time may end before the
  // server's answers have come.
  std::string DumpWith(const std::string& text, const std::string& url) const;

 private:
  const std::string folder_;
  std::string program_;
};

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_BROWSER_H_
