// SPDX-License-Identifier: Apache-2.0
#include "server/bundle/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
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

// Whose bundles these are.
Notary& Author() {
  static auto* const author = new Notary(
      *SigningKey::Generate(), {}, [](const std::string&) {}, absl::Now);  // Outlives the tests.
  return *author;
}

v1::BundleRecord Record(const std::string& ir, const std::string& binary, const Notary& signer = Author(),
                        const std::string& build = "build") {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir(ir);
  const std::string request_bytes = request.SerializeAsString();
  v1::ActionResult result;
  result.set_build_id(build);
  *result.add_artifacts() = Named("cubin", binary);
  *result.mutable_request() = Named("request", request_bytes);
  v1::BundleRecord record;
  record.set_key(proto::Prepare(request)->Key("build"));
  record.set_signed_result(
      signer.Sign(Purpose::kResult, *cache::Digest::FromHex(record.key()), result.SerializeAsString()));
  record.add_blobs()->set_data(binary);
  record.add_blobs()->set_data(request_bytes);
  return record;
}

std::string Write(const std::vector<v1::BundleRecord>& records, const Notary& signer = Author()) {
  std::string bytes;
  BundleWriter writer(signer, [&](absl::string_view part) {
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

absl::Status Verify(const std::vector<v1::BundleRecord>& records, Notary& reader = Author()) {
  BundleVerifier verifier(reader);
  absl::Status status;
  for (const v1::BundleRecord& record : records)
    if (status.ok()) status = verifier.Visit(record);
  return status.ok() ? verifier.Finish() : status;
}

// What a bundle of these records holds, as it is read.
std::vector<v1::BundleRecord> Bundled(const std::vector<v1::BundleRecord>& records, const Notary& signer = Author()) {
  std::vector<v1::BundleRecord> read;
  EXPECT_EQ(Read(Write(records, signer), &read), absl::OkStatus());
  return read;
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
  ASSERT_EQ(read.size(), records.size() + 1);  // And the manifest.
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(read[i].SerializeAsString(), records[i].SerializeAsString());
  EXPECT_EQ(Verify(read), absl::OkStatus());
}

TEST(Bundle, AnEmptyBundleIsWhole) {
  std::vector<v1::BundleRecord> read;
  EXPECT_EQ(Read(Write({}), &read), absl::OkStatus());
  EXPECT_EQ(read.size(), 1u);
  EXPECT_EQ(Verify(read), absl::OkStatus());
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
    if (status.ok()) status = Verify(read);
    // The size of the window in zstd's header may be another one without harm.
    const bool harmless = read.size() == 3 && read[0].SerializeAsString() == records[0].SerializeAsString() &&
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
  ASSERT_EQ(Verify(Bundled({good})), absl::OkStatus());

  v1::BundleRecord other_key = good;
  other_key.set_key(Record("two", "binary").key());
  EXPECT_TRUE(absl::IsDataLoss(Verify({other_key})));

  EXPECT_TRUE(absl::IsDataLoss(Verify({Record("one", "binary", Author(), "another build")})));

  v1::BundleRecord other_bytes = good;
  other_bytes.mutable_blobs(0)->set_data("Binary");
  EXPECT_THAT(std::string(Verify({other_bytes}).message()), HasSubstr("cubin"));

  v1::BundleRecord fewer = good;
  fewer.mutable_blobs()->RemoveLast();
  EXPECT_TRUE(absl::IsDataLoss(Verify({fewer})));

  v1::BundleRecord other_purpose = good;
  other_purpose.set_signed_result(
      Author().Sign(Purpose::kError, *cache::Digest::FromHex(good.key()), ReadRecord(good.signed_result())->payload));
  EXPECT_TRUE(absl::IsDataLoss(Verify({other_purpose})));

  v1::BundleRecord unsigned_result = good;
  unsigned_result.set_signed_result(std::string(ReadRecord(good.signed_result())->payload));
  EXPECT_TRUE(absl::IsFailedPrecondition(Verify({unsigned_result})));
}

TEST(Bundle, AnUntrustedAuthorIsRefusedByName) {
  Notary reader(
      *SigningKey::Generate(), {}, [](const std::string&) {}, absl::Now);
  const std::vector<v1::BundleRecord> records = Bundled({Record("one", "binary")});
  const absl::Status refused = Verify(records, reader);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr(ShortId(Author().public_key().id())));
  EXPECT_EQ(reader.refused(Origin::kBundle, Refusal::kUnknownSigner), 1u);

  TrustedKeys trusted, revoked;
  trusted.Add({Author().public_key(), "author", false});
  revoked.Add({Author().public_key(), "author", true});
  reader.Trust(trusted);
  EXPECT_EQ(Verify(records, reader), absl::OkStatus());
  reader.Trust(revoked);
  EXPECT_THAT(std::string(Verify(records, reader).message()), HasSubstr("revoked"));
}

TEST(Bundle, WithoutTrustedKeysEverythingButTheSignaturesIsVerified) {
  const auto verify = [](const std::vector<v1::BundleRecord>& records) {
    BundleVerifier verifier(Notary::TakeApart);
    absl::Status status;
    for (const v1::BundleRecord& record : records)
      if (status.ok()) status = verifier.Visit(record);
    return status.ok() ? verifier.Finish() : status;
  };
  const std::vector<v1::BundleRecord> whole = Bundled({Record("one", "1"), Record("two", "2")});
  EXPECT_EQ(verify(whole), absl::OkStatus());
  EXPECT_TRUE(absl::IsDataLoss(verify({whole[0], whole[2]})));
  EXPECT_TRUE(absl::IsFailedPrecondition(verify({whole[0], whole[1]})));
  v1::BundleRecord other_bytes = whole[0];
  other_bytes.mutable_blobs(0)->set_data("other");
  EXPECT_TRUE(absl::IsDataLoss(verify({other_bytes, whole[1], whole[2]})));
  v1::BundleRecord other_key = whole[0];
  other_key.set_key(whole[1].key());
  EXPECT_TRUE(absl::IsDataLoss(verify({other_key, whole[1], whole[2]})));
}

TEST(Bundle, WithTrustedResultsAndAnUntrustedManifestIsRefused) {
  const Notary stranger(
      *SigningKey::Generate(), {}, [](const std::string&) {}, absl::Now);
  EXPECT_TRUE(absl::IsFailedPrecondition(Verify(Bundled({Record("one", "binary")}, stranger))));
}

TEST(Bundle, NoResultIsTakenOutOrAddedUnnoticed) {
  const std::vector<v1::BundleRecord> whole = Bundled({Record("one", "1"), Record("two", "2")});
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_TRUE(absl::IsDataLoss(Verify({whole[0], whole[2]})));
  EXPECT_TRUE(absl::IsDataLoss(Verify({whole[1], whole[0], whole[2]})));
  EXPECT_TRUE(absl::IsDataLoss(Verify({whole[0], whole[1], Record("three", "3"), whole[2]})));
  EXPECT_TRUE(absl::IsDataLoss(Verify({whole[0], whole[1], whole[2], Record("three", "3")})));
  EXPECT_TRUE(absl::IsFailedPrecondition(Verify({whole[0], whole[1]})));
}

}  // namespace
}  // namespace tritond::server
