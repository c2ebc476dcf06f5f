// SPDX-License-Identifier: Apache-2.0
#ifndef CACHE_API_BLOB_H_
#define CACHE_API_BLOB_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "cache/api/digest.h"

namespace tritond::cache {

// Immutable bytes, one contiguous piece. Copying shares them, so a value that the memory store holds can be sent to
// many callers at once and outlives its eviction. Thread-safe like any const value.
//
// To send a hit without a copy, keep a Blob alive beside the transport's view of bytes(). The user data of a
// grpc::Slice can hold it.
class Blob final {
 public:
  Blob() = default;
  // Takes over `bytes`; moving a string in copies nothing.
  explicit Blob(std::string bytes) {
    auto owned = std::make_shared<const std::string>(std::move(bytes));
    bytes_ = *owned;
    owner_ = std::move(owned);
  }
  // Copies `bytes`.
  static Blob Copy(absl::string_view bytes) { return Blob(std::string(bytes)); }

  absl::string_view bytes() const { return bytes_; }
  const char* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  // At most `count` bytes from `offset` on, fewer at the end, none past it. Shares, and keeps alive, the whole.
  Blob Slice(size_t offset, size_t count) const {
    Blob slice = *this;
    slice.digest_.reset();
    slice.bytes_ = offset < bytes_.size() ? bytes_.substr(offset, count) : absl::string_view();
    return slice;
  }

  // The SHA-256 of the bytes where it is known: since it was computed here, by WithDigest. Copies know it too, slices
  // do not.
  const absl::optional<Digest>& digest() const { return digest_; }
  // The same bytes with their digest, which is computed where it is not known.
  Blob WithDigest() const {
    Blob named = *this;
    if (!named.digest_.has_value()) named.digest_ = Digest::Of(bytes_);
    return named;
  }

  friend bool operator==(const Blob& a, const Blob& b) { return a.bytes_ == b.bytes_; }
  friend bool operator!=(const Blob& a, const Blob& b) { return a.bytes_ != b.bytes_; }

 private:
  std::shared_ptr<const std::string> owner_;  // Shared: the bytes live as long as the last copy or slice.
  absl::string_view bytes_;
  absl::optional<Digest> digest_;
};

}  // namespace tritond::cache

#endif  // CACHE_API_BLOB_H_
