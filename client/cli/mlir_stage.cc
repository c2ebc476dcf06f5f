// SPDX-License-Identifier: Apache-2.0
// TTIR may have operations of the ttg dialect: newer frontends print barriers so. Only a module whose layouts are
// chosen says how many warps it has. Up to Triton 3.2 the dialect was called triton_gpu.
#include "client/cli/mlir_stage.h"

#include "absl/strings/match.h"
#include "proto/request_key/ir_lexer.h"

namespace tritond::client {
namespace {

bool IsOfTtg(absl::string_view token) {
  const size_t name = token.find_first_not_of("#!\"");
  if (name == absl::string_view::npos) return false;
  token.remove_prefix(name);
  return absl::StartsWith(token, "ttg.") || absl::StartsWith(token, "triton_gpu.");
}

}  // namespace

v1::Stage MlirStage(absl::string_view text, v1::Stage called) {
  proto::IrLexer lexer(text);
  proto::IrToken token = lexer.Next();
  bool of_ttg = false;
  while (token.kind != proto::IrToken::Kind::kEnd && token.kind != proto::IrToken::Kind::kError) {
    const bool counts_warps = token.Is("\"ttg.num-warps\"") || token.Is("\"triton_gpu.num-warps\"");
    of_ttg = of_ttg || IsOfTtg(token.text);
    token = lexer.Next();
    if (counts_warps && token.Is("=")) return v1::STAGE_TTGIR;
  }
  // A text without tokens is refused later, with the place.
  if (token.kind == proto::IrToken::Kind::kEnd && called == v1::STAGE_TTGIR && !of_ttg) return v1::STAGE_TTIR;
  return called;
}

}  // namespace tritond::client
