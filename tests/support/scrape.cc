// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scrape.h"

#include <httplib.h>

#include "absl/strings/numbers.h"

namespace tritond::tests {

double ScrapeMetric(int http_port, const std::string& series) {
  const auto page = httplib::Client("127.0.0.1", http_port).Get("/metrics");
  if (!page) return -1;
  const size_t at = page->body.find("\n" + series + " ");
  if (at == std::string::npos) return -1;
  const size_t begin = at + series.size() + 2;
  double value = -1;
  static_cast<void>(absl::SimpleAtod(page->body.substr(begin, page->body.find('\n', begin) - begin), &value));
  return value;
}

}  // namespace tritond::tests
