// SPDX-License-Identifier: Apache-2.0
#include "tests/support/work_counter.h"

#include <dlfcn.h>
#include <openssl/evp.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/request_key/canonical_text.h"

namespace tritond::tests {
namespace {

struct Tally {
  absl::Mutex mu;
  std::string marker ABSL_GUARDED_BY(mu);
  WorkCounts counts ABSL_GUARDED_BY(mu);
};

Tally& TheTally() {
  static auto* tally = new Tally;
  return *tally;
}

bool IsMarked(const Tally& tally, absl::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tally.mu) {
  return !tally.marker.empty() && absl::StrContains(bytes, tally.marker);
}

void CountHash(absl::string_view bytes) {
  Tally& tally = TheTally();
  absl::MutexLock lock(&tally.mu);
  if (!IsMarked(tally, bytes)) return;
  if (absl::StartsWith(bytes, "cubin for ")) {
    ++tally.counts.binaries_hashed;
  } else if (absl::StartsWith(bytes, "ptx for ")) {
    ++tally.counts.steps_hashed;
  } else {
    ++tally.counts.texts_hashed;
  }
}

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void CountWork(const std::string& marker) {
  Tally& tally = TheTally();
  absl::MutexLock lock(&tally.mu);
  tally.marker = marker;
  tally.counts = WorkCounts();
}

WorkCounts WorkDone() {
  Tally& tally = TheTally();
  absl::MutexLock lock(&tally.mu);
  return tally.counts;
}

// The linker leads calls of CanonicalizeText here (--wrap, tests/support/CMakeLists.txt).
absl::StatusOr<proto::CanonicalText> RealCanonicalizeText(absl::string_view text, proto::SourceLocations locations) asm(
    "__real_" TRITOND_CANONICALIZE_TEXT);
absl::StatusOr<proto::CanonicalText> WrapCanonicalizeText(absl::string_view text, proto::SourceLocations locations) asm(
    "__wrap_" TRITOND_CANONICALIZE_TEXT);
absl::StatusOr<proto::CanonicalText> WrapCanonicalizeText(absl::string_view text, proto::SourceLocations locations) {
  Tally& tally = TheTally();
  {
    absl::MutexLock lock(&tally.mu);
    if (IsMarked(tally, text)) ++tally.counts.texts_read;
  }
  return RealCanonicalizeText(text, locations);
}

}  // namespace tritond::tests

// In the place of OpenSSL's, which it calls. EVP_Digest comes here too.
extern "C" int EVP_DigestUpdate(EVP_MD_CTX* context, const void* bytes, size_t size) {
  static const auto next = tritond::tests::Next<decltype(&EVP_DigestUpdate)>("EVP_DigestUpdate");
  tritond::tests::CountHash({static_cast<const char*>(bytes), size});
  return next(context, bytes, size);
}
