// SPDX-License-Identifier: Apache-2.0
#include "server/bundle/bundle.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <zstd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/request_key/request_key.h"

namespace tritond::server {
namespace {

constexpr size_t kPartBytes = size_t{1} << 20;
constexpr int kCompressionLevel = 9;

absl::Status Damaged(absl::string_view what) { return absl::DataLossError(absl::StrCat("the bundle ", what)); }

absl::Status Refused(absl::string_view what, const Notary::Answer& read) {
  const bool damaged = *read.refusal == Refusal::kMalformed || *read.refusal == Refusal::kWrongKey ||
                       *read.refusal == Refusal::kBadSignature;
  if (damaged)
    return Damaged(absl::StrCat("holds ", what, " whose signature does not fit (", RefusalName(*read.refusal), ")"));
  if (*read.refusal == Refusal::kUnsigned) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the bundle holds ", what, " that no daemon has signed: earlier versions made such bundles. Export it again"));
  }
  std::string signers = ShortId(read.record.facts.signer);
  for (const cache::Digest& source : read.record.facts.sources) absl::StrAppend(&signers, ", ", ShortId(source));
  return absl::FailedPreconditionError(
      absl::StrCat("the bundle holds ", what, " that is signed by or made from results of ", signers, ": ",
                   *read.refusal == Refusal::kRevoked
                       ? "a key is revoked. Export it again without that result"
                       : "a key is not trusted. Add it to the list of trusted keys (--trusted-keys)"));
}

// The bytes in a zstd frame.
class FrameReader final : public google::protobuf::io::CopyingInputStream {
 public:
  explicit FrameReader(std::istream& in) : in_(in), context_(ZSTD_createDCtx()), buffer_(ZSTD_DStreamInSize()) {}
  ~FrameReader() override { ZSTD_freeDCtx(context_); }

  int Read(void* to, int size) override {
    ZSTD_outBuffer out{to, static_cast<size_t>(size), 0};
    while (out.pos == 0 && !whole_) {
      if (taken_.pos == taken_.size && !Refill()) return Fail("ends in the middle");
      const size_t hint = ZSTD_decompressStream(context_, &out, &taken_);
      if (ZSTD_isError(hint)) return Fail(absl::StrCat("is damaged: ", ZSTD_getErrorName(hint)));
      whole_ = hint == 0;
    }
    return static_cast<int>(out.pos);
  }

  // What was wrong with the bytes; ok after the end of a whole frame with nothing after it.
  absl::Status Status() {
    if (!status_.ok()) return status_;
    if (!whole_) return Damaged("ends in the middle");
    return taken_.pos == taken_.size && !Refill() ? absl::OkStatus() : Damaged("has bytes after its end");
  }

 private:
  bool Refill() {
    in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    taken_ = {buffer_.data(), static_cast<size_t>(in_.gcount()), 0};
    return taken_.size > 0;
  }
  int Fail(const std::string& what) {
    status_ = Damaged(what);
    return -1;
  }

  std::istream& in_;
  ZSTD_DCtx* const context_;
  std::vector<char> buffer_;
  ZSTD_inBuffer taken_{nullptr, 0, 0};
  bool whole_ = false;
  absl::Status status_;
};

// Whether the record's bytes are what the result names, and its request has the record's key.
absl::Status CheckBytes(const v1::BundleRecord& record, const v1::ActionResult& result) {
  std::vector<const v1::Artifact*> named;
  for (const v1::Artifact& artifact : result.artifacts()) named.push_back(&artifact);
  named.push_back(&result.request());
  if (named.size() != static_cast<size_t>(record.blobs_size()))
    return Damaged(absl::StrCat("does not hold what the result of ", record.key(), " names"));
  for (size_t i = 0; i < named.size(); ++i) {
    const std::string& data = record.blobs(static_cast<int>(i)).data();
    if (proto::Sha256Hex(data) != named[i]->digest() || data.size() != named[i]->size_bytes())
      return Damaged(absl::StrCat("holds wrong bytes for the ", named[i]->format(), " of ", record.key()));
  }
  v1::CompileRequest request;
  if (!request.ParseFromString(record.blobs(record.blobs_size() - 1).data()))
    return Damaged(absl::StrCat("holds no request for the result of ", record.key()));
  const absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(std::move(request));
  if (!prepared.ok() || prepared->Key(result.build_id()) != record.key())
    return Damaged(absl::StrCat("holds a result under ", record.key(), " that this key does not fit"));
  return absl::OkStatus();
}

}  // namespace

BundleWriter::BundleWriter(const Notary& notary, Sink sink)
    : notary_(notary), sink_(std::move(sink)), context_(ZSTD_createCCtx()) {
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
}

BundleWriter::~BundleWriter() { ZSTD_freeCCtx(context_); }

absl::Status BundleWriter::Compress(absl::string_view bytes, bool last) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (true) {
    const size_t before = part_.size();
    part_.resize(kPartBytes);
    ZSTD_outBuffer out{part_.data(), part_.size(), before};
    const size_t left = ZSTD_compressStream2(context_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    part_.resize(out.pos);
    if (ZSTD_isError(left)) return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
    const bool done = last ? left == 0 : in.pos == in.size;
    if (part_.size() == kPartBytes || (last && done && !part_.empty())) {
      absl::Status status = sink_(part_);
      if (!status.ok()) return status;
      part_.clear();
    }
    if (done) return absl::OkStatus();
  }
}

absl::Status BundleWriter::Add(const v1::BundleRecord& record) {
  results_.Update(record.signed_result());
  ++count_;
  return Write(record);
}

absl::Status BundleWriter::Write(const v1::BundleRecord& record) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    if (!google::protobuf::util::SerializeDelimitedToZeroCopyStream(record, &stream))
      return absl::InternalError("a result is too large for a bundle");
  }
  return Compress(bytes, /*last=*/false);
}

absl::Status BundleWriter::Finish() {
  v1::BundleManifest manifest;
  manifest.set_results(count_);
  v1::BundleRecord last;
  last.set_signed_manifest(notary_.Sign(Purpose::kManifest, results_.Finish(), manifest.SerializeAsString()));
  const absl::Status status = Write(last);
  return status.ok() ? Compress("", /*last=*/true) : status;
}

absl::Status ReadBundle(std::istream& in, const std::function<absl::Status(v1::BundleRecord)>& visit) {
  FrameReader frame(in);
  google::protobuf::io::CopyingInputStreamAdaptor stream(&frame);
  while (true) {
    v1::BundleRecord record;
    bool clean_end = false;
    if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&record, &stream, &clean_end)) {
      absl::Status status = frame.Status();
      if (!status.ok() || clean_end) return status;
      return Damaged("holds something that is no record");
    }
    absl::Status status = visit(std::move(record));
    if (!status.ok()) return status;
  }
}

absl::Status BundleVerifier::VisitManifest(const v1::BundleRecord& record) {
  const Notary::Answer read = read_({Purpose::kManifest, results_.Finish()}, record.signed_manifest());
  if (read.refusal.has_value()) return Refused("a manifest", read);
  v1::BundleManifest manifest;
  if (!manifest.ParseFromString(std::string(read.record.payload)) || manifest.results() != count_)
    return Damaged("does not hold what its manifest says");
  whole_ = true;
  return absl::OkStatus();
}

absl::Status BundleVerifier::Visit(const v1::BundleRecord& record) {
  if (whole_) return Damaged("has records after its manifest");
  if (!record.signed_manifest().empty()) return VisitManifest(record);
  results_.Update(record.signed_result());
  ++count_;
  const absl::StatusOr<cache::Digest> key = cache::Digest::FromHex(record.key());
  if (!key.ok()) return Damaged("holds a result under something that is no key");
  const Notary::Answer read = read_({Purpose::kResult, *key}, record.signed_result());
  if (read.refusal.has_value()) return Refused(absl::StrCat("a result of ", record.key()), read);
  v1::ActionResult result;
  if (!result.ParseFromArray(read.record.payload.data(), static_cast<int>(read.record.payload.size())))
    return Damaged(absl::StrCat("holds no result of ", record.key()));
  return CheckBytes(record, result);
}

absl::Status BundleVerifier::Finish() const {
  if (whole_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the bundle has no manifest that a daemon has signed: earlier versions made such bundles. Export it again");
}

}  // namespace tritond::server
