// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/targets/elf_image.h"
#include "compiler/targets/nvidia/codegen.h"
#include "compiler/targets/nvidia/lost_operands.h"

namespace tritond::compiler::nvidia {
namespace {

// Where the comment or string that begins at `at` ends; `at` itself when none does.
size_t EndOfAside(absl::string_view text, size_t at) {
  const absl::string_view rest = text.substr(at);
  size_t length = absl::string_view::npos;
  if (absl::StartsWith(rest, "//")) {
    length = rest.find('\n');
  } else if (absl::StartsWith(rest, "/*")) {
    length = rest.find("*/", 2);
    if (length != absl::string_view::npos) length += 2;
  } else if (absl::StartsWith(rest, "\"")) {
    length = rest.find('"', 1);
    if (length != absl::string_view::npos) length += 1;
  } else {
    return at;
  }
  return length == absl::string_view::npos ? text.size() : at + length;
}

bool IsNamePart(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '%'; }

size_t SkipSpace(absl::string_view text, size_t at) {
  while (at < text.size()) {
    const size_t next = absl::ascii_isspace(text[at]) ? at + 1 : EndOfAside(text, at);
    if (next == at) break;
    at = next;
  }
  return at;
}

// The compute capability that the header names, 90 for sm_90 and sm_90a; 0 where this version of the format is unknown.
int CapabilityOf(const ElfImage& image) {
  constexpr int kWideFlags = 8;  // the version of the ABI that CUDA 13 writes
  if (image.abi_version() == kWideFlags) return image.flags() >> 8 & 0xff;
  return image.abi_version() < kWideFlags ? image.flags() & 0xff : 0;
}

}  // namespace

std::string EntryOf(absl::string_view ptx) {
  constexpr absl::string_view kEntry = ".entry";
  for (size_t at = SkipSpace(ptx, 0); at < ptx.size(); at = SkipSpace(ptx, at + 1)) {
    if (!absl::StartsWith(ptx.substr(at), kEntry)) continue;
    const size_t begin = SkipSpace(ptx, at + kEntry.size());
    if (begin == at + kEntry.size()) continue;  // another, longer word
    size_t end = begin;
    while (end < ptx.size() && IsNamePart(ptx[end])) ++end;
    return std::string(ptx.substr(begin, end - begin));
  }
  return "";
}

absl::Status CheckCubin(absl::string_view cubin, const Architecture& arch, absl::string_view kernel) {
  absl::StatusOr<ElfImage> image = ElfImage::Parse(cubin);
  if (!image.ok()) return image.status();
  if (image->machine() != kElfMachineCuda || image->type() != kElfExecutable)
    return absl::InternalError("the binary is no executable for CUDA devices");
  const int capability = CapabilityOf(*image);
  if (capability != 0 && capability != arch.compute_capability)
    return absl::InternalError(absl::StrCat("the binary is for sm_", capability, ", not for ", arch.name));
  if (LosesOperands(cubin, kernel, arch.compute_capability))
    return absl::InternalError(absl::StrCat("the assembler has overwritten an operand of wgmma that a loop of '",
                                            kernel, "' keeps; another version of it, or --opt-level=0, may not"));
  return image->RequireFunction(kernel);
}

}  // namespace tritond::compiler::nvidia
