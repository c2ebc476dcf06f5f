// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_API_DIGEST_H_
#define CACHE_API_DIGEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct evp_md_ctx_st;

namespace tritond::cache {

// A SHA-256 value: what entries are named by. A plain value of 32 bytes, ordered by its bytes; the default is all
// zeros, which no input is known to hash to.
class Digest final {
 public:
  static constexpr size_t kSizeBytes = 32;

  Digest() = default;

  // The SHA-256 of `bytes`. Cannot fail.
  static Digest Of(absl::string_view bytes);
  // InvalidArgument unless `hex` is 64 lower-case hexadecimal digits: a digest has one name.
  static absl::StatusOr<Digest> FromHex(absl::string_view hex);
  // Takes the digest itself, not what it is of. InvalidArgument unless `bytes` has 32 bytes.
  static absl::StatusOr<Digest> FromBytes(absl::string_view bytes);

  // 64 lower-case hexadecimal digits.
  std::string ToHex() const;
  // The 32 bytes; valid as long as this object.
  absl::string_view bytes() const { return {reinterpret_cast<const char*>(value_.data()), value_.size()}; }

  friend bool operator==(const Digest& a, const Digest& b) { return a.value_ == b.value_; }
  friend bool operator!=(const Digest& a, const Digest& b) { return a.value_ != b.value_; }
  friend bool operator<(const Digest& a, const Digest& b) { return a.value_ < b.value_; }
  template <typename H>
  friend H AbslHashValue(H h, const Digest& d) {
    return H::combine(std::move(h), d.Word());
  }
  friend std::ostream& operator<<(std::ostream& out, const Digest& d) { return out << d.ToHex(); }

 private:
  // The first eight bytes: as evenly spread as the whole, and enough for a hash table.
  uint64_t Word() const {
    uint64_t word;
    std::memcpy(&word, value_.data(), sizeof(word));
    return word;
  }

  std::array<uint8_t, kSizeBytes> value_{};
};

// Hashes bytes that come in pieces: Update any number of times, then Finish once. Not thread-safe.
class DigestHasher final {
 public:
  DigestHasher();
  ~DigestHasher();
  DigestHasher(const DigestHasher&) = delete;
  DigestHasher& operator=(const DigestHasher&) = delete;

  // Appends `bytes` as they are: callers that hash several fields add lengths or separators themselves.
  void Update(absl::string_view bytes);
  // The digest of everything so far. The hasher then starts anew, empty.
  Digest Finish();

 private:
  evp_md_ctx_st* context_;
};

}  // namespace tritond::cache

#endif  // CACHE_API_DIGEST_H_
