// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_LOAD_BARE_SERVER_H_
#define TESTS_LOAD_BARE_SERVER_H_

#include <string>
#include <vector>

namespace tritond::tests {

struct BareServer {
  std::vector<std::string> addresses;       // insecure
  std::string tls_address;                  // empty: none
  std::string certificate, key, client_ca;  // PEM
};

// Serves CompileService.Lookup as a bare gRPC method. The answer is a constant with a binary of
// `sizes[length of the key]` bytes. It has the fields of a real one, so that the client's share of the work is the
// same. Ends with its parent.
[[noreturn]] void ServeBare(const BareServer& server, const std::vector<size_t>& sizes);

}  // namespace tritond::tests

#endif  // TESTS_LOAD_BARE_SERVER_H_
