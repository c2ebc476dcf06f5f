// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_SCRAPE_H_
#define TESTS_SUPPORT_SCRAPE_H_

#include <string>

namespace tritond::tests {

// The value of a series on the /metrics page of this machine's `http_port`, labels included as the page has them. -1
// when it is not there.
double ScrapeMetric(int http_port, const std::string& series);

}  // namespace tritond::tests

#endif  // TESTS_SUPPORT_SCRAPE_H_
