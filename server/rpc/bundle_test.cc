// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "absl/strings/str_cat.h"
#include "proto/request_key/request_key.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;

v1::Artifact Named(const std::string& format, const std::string& bytes) {
  v1::Artifact artifact;
  artifact.set_format(format);
  artifact.set_digest(proto::Sha256Hex(bytes));
  artifact.set_size_bytes(bytes.size());
  return artifact;
}

v1::BundleRecord Record(const std::string& ir, const std::string& binary) {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir(ir);
  const std::string request_bytes = request.SerializeAsString();
  v1::BundleRecord record;
  record.mutable_result()->set_build_id("build");
  record.set_key(proto::Prepare(request)->Key("build"));
  *record.mutable_result()->add_artifacts() = Named("cubin", binary);
  *record.mutable_result()->mutable_request() = Named("request", request_bytes);
  record.add_blobs()->set_data(binary);
  record.add_blobs()->set_data(request_bytes);
  return record;
}

std::string Write(const std::vector<v1::BundleRecord>& records) {
  std::string bytes;
  BundleWriter writer([&](absl::string_view part) {
    EXPECT_LE(part.size(), size_t{1} << 20);
    bytes.append(part.data(), part.size());
    return absl::OkStatus();
  });
  for (const v1::BundleRecord& record : records) EXPECT_TRUE(writer.Add(record).ok());
  EXPECT_TRUE(writer.Finish().ok());
  return bytes;
}

absl::Status Read(const std::string& bytes, std::vector<v1::BundleRecord>* records) {
  std::istringstream in(bytes);
  return ReadBundle(in, [&](v1::BundleRecord record) {
    records->push_back(std::move(record));
    return absl::OkStatus();
  });
}

// Bytes that zstd does not shrink.
std::string Noise(size_t size) {
  std::string bytes(size, '\0');
  uint64_t state = 1;
  for (char& c : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return bytes;
}

TEST(Bundle, GivesBackWhatWasAdded) {
  const std::vector<v1::BundleRecord> records = {Record("one", "binary"), Record("two", ""),
                                                 Record("three", Noise(3 << 20))};
  std::vector<v1::BundleRecord> read;
  ASSERT_EQ(Read(Write(records), &read), absl::OkStatus());
  ASSERT_EQ(read.size(), records.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].SerializeAsString(), records[i].SerializeAsString());
    EXPECT_EQ(VerifyRecord(read[i]), absl::OkStatus());
  }
}

TEST(Bundle, OfNothingIsWhole) {
  std::vector<v1::BundleRecord> read;
  EXPECT_EQ(Read(Write({}), &read), absl::OkStatus());
  EXPECT_TRUE(read.empty());
}

TEST(Bundle, EveryCutAndEveryFlippedByteIsNoticed) {
  const std::vector<v1::BundleRecord> records = {Record("one", Noise(500)), Record("two", Noise(700))};
  const std::string bytes = Write(records);
  for (size_t size = 0; size < bytes.size(); size += 7) {
    std::vector<v1::BundleRecord> read;
    EXPECT_TRUE(absl::IsDataLoss(Read(bytes.substr(0, size), &read))) << size;
  }
  for (size_t at = 0; at < bytes.size(); at += 5) {
    std::string damaged = bytes;
    damaged[at] ^= 0x10;
    std::vector<v1::BundleRecord> read;
    absl::Status status = Read(damaged, &read);
    for (const v1::BundleRecord& record : read) status.Update(VerifyRecord(record));
    // The size of the window in zstd's header may be another one without harm.
    const bool harmless = read.size() == 2 && read[0].SerializeAsString() == records[0].SerializeAsString() &&
                          read[1].SerializeAsString() == records[1].SerializeAsString();
    EXPECT_TRUE(absl::IsDataLoss(status) || harmless) << at;
  }
  std::vector<v1::BundleRecord> read;
  EXPECT_TRUE(absl::IsDataLoss(Read(bytes + "more", &read)));
  EXPECT_TRUE(absl::IsDataLoss(Read("this is no bundle", &read)));
}

TEST(Bundle, AVisitorsErrorEndsTheReading) {
  std::istringstream in(Write({Record("one", "1"), Record("two", "2")}));
  int visits = 0;
  EXPECT_EQ(ReadBundle(in,
                       [&](const v1::BundleRecord&) {
                         ++visits;
                         return absl::AbortedError("enough");
                       }),
            absl::AbortedError("enough"));
  EXPECT_EQ(visits, 1);
}

TEST(Bundle, ARecordThatDoesNotFitIsNotBelieved) {
  const v1::BundleRecord good = Record("one", "binary");
  ASSERT_EQ(VerifyRecord(good), absl::OkStatus());

  v1::BundleRecord other_key = good;
  other_key.set_key(Record("two", "binary").key());
  EXPECT_TRUE(absl::IsDataLoss(VerifyRecord(other_key)));

  v1::BundleRecord other_build = good;
  other_build.mutable_result()->set_build_id("another build");
  EXPECT_TRUE(absl::IsDataLoss(VerifyRecord(other_build)));

  v1::BundleRecord other_bytes = good;
  other_bytes.mutable_blobs(0)->set_data("Binary");
  EXPECT_THAT(std::string(VerifyRecord(other_bytes).message()), HasSubstr("cubin"));

  v1::BundleRecord fewer = good;
  fewer.mutable_blobs()->RemoveLast();
  EXPECT_TRUE(absl::IsDataLoss(VerifyRecord(fewer)));
}

}  // namespace
}  // namespace tritond::server
