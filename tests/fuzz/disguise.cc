// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/disguise.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace tritond::tests {
namespace {

// Between two bytes of the text.
constexpr const char* kInserts[] = {" // (\n",
                                    " // )\n",
                                    " // \"\n",
                                    "// loc(\n",
                                    "//\r",
                                    " // (\r",
                                    " // )\r",
                                    " loc(unknown)",
                                    " loc(unknown // (\n)",
                                    " loc(unknown // )\n)",
                                    " loc(\"a\")",
                                    " loc(\"(\")",
                                    " loc(\"\\\"\")",
                                    " loc(\"a\":1:2)",
                                    " loc(fused[\"a\", unknown])",
                                    " loc(fused<\"m\">[unknown])",
                                    " loc(callsite(\"f\" at \"g\"))",
                                    " loc(#loc)",
                                    "loc(unknown)",
                                    " loc",
                                    " loc (unknown)",
                                    "\n#loc77 = loc(\"x\")\n",
                                    "#loc78 = loc(\"y\" // )\n)\n",
                                    " {a = loc(\"v\")}",
                                    " {a = \"loc(\"}",
                                    "\r",
                                    "\r\n",
                                    "\n",
                                    "\t",
                                    " ",
                                    "\v",
                                    "\f",
                                    "/",
                                    "//",
                                    "\"",
                                    "\\",
                                    "(",
                                    ")",
                                    "<",
                                    ">",
                                    "{-#",
                                    "#-}",
                                    "->",
                                    "\"\\22 loc(\"",
                                    "{b = \"// \"}",
                                    "  %c_key = arith.constant 1 : i32\n",
                                    "  // %c_key = arith.constant 2 : i32\n",
                                    "\n\"test.op\"() {x = \"// loc(\"} : () -> () loc(unknown)\n"};

// Mostly after the end of a line or a token, where a text survives.
size_t Place(const std::string& text, std::mt19937_64& random) {
  if (text.empty()) return 0;
  size_t at = random() % text.size();
  const size_t kind = random() % 8;
  if (kind < 4) {
    const size_t line = text.find('\n', at);
    at = line == std::string::npos ? text.size() : line + (kind < 2 ? 0 : 1);
  } else if (kind < 7) {
    const size_t token = text.find_first_of(" ,)>:", at);
    at = token == std::string::npos ? text.size() : token;
  }
  return at;
}

// From the beginning of one line to that of another.
std::string Lines(const std::string& text, std::mt19937_64& random) {
  const size_t from = text.find('\n', random() % text.size());
  if (from == std::string::npos) return "";
  return text.substr(from + 1, text.find('\n', from + 1 + random() % 200) - from);
}

}  // namespace

std::string Disguise(std::string text, std::mt19937_64& random) {
  // Mostly few: each may be the one after which no module is left.
  const size_t changes = random() % 4 == 0 ? 1 + random() % 8 : 1 + random() % 2;
  for (size_t n = 0; n < changes && !text.empty(); ++n) {
    const size_t at = Place(text, random);
    switch (random() % 8) {
      case 0:  // A part of the kernel within a comment of a location.
        text.insert(at, " loc(unknown // (\n)\n" + Lines(text, random) + " // )\n");
        break;
      case 1: {  // A part of the text goes.
        text.erase(at, 1 + random() % 3);
        break;
      }
      case 2:
        text.insert(at, kInserts[random() % std::size(kInserts)]);
        [[fallthrough]];
      default:
        text.insert(at, kInserts[random() % std::size(kInserts)]);
    }
  }
  return text;
}

}  // namespace tritond::tests
