// SPDX-License-Identifier: Apache-2.0
// Changes to the text of a kernel that a reader of its keys might overlook. They are comments, locations and strings
// that hold brackets, quotes and operations, in places where two lexers might disagree.
#ifndef TESTS_FUZZ_DISGUISE_H_
#define TESTS_FUZZ_DISGUISE_H_

#include <random>
#include <string>

namespace tritond::tests {

// `text` with one to eight of them.
std::string Disguise(std::string text, std::mt19937_64& random);

}  // namespace tritond::tests

#endif  // TESTS_FUZZ_DISGUISE_H_
