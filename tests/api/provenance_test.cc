// SPDX-License-Identifier: Apache-2.0
// Who may say what a kernel's binary is. What somebody plants at the engine, or brings from another daemon, counts only
// when a trusted daemon has signed it for just this.
#include <gmock/gmock.h>
#include <httplib.h>
#include <prometheus/registry.h>
#include <sys/stat.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cache/open/open_cache.h"
#include "server/app/key_files.h"
#include "tests/support/cluster_fixture.h"

namespace tritond::tests {
namespace {

using server::Origin;
using server::Purpose;
using server::Refusal;
using testing::HasSubstr;

constexpr char kEvil[] = "a binary that nobody compiled";

class ProvenanceTest : public ClusterTest {
 private:
  prometheus::Registry registry_;
  std::optional<server::SigningKey> cluster_key_;

 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (IsSkipped()) return;
    cache::CacheConfig password;
    password.cluster.nodes = nodes->addresses();
    thief = *cache::OpenCache(password, registry_);
    cluster_key_.emplace(*server::ReadSigningKey(config.signing_key));
  }
  // Of what has no steps, which are records of their own and are shared later than itself.
  static v1::CompileRequest WholeRequest(const std::string& ir) {
    v1::CompileRequest request = Request(ir);
    request.set_debug_info(true);
    return request;
  }
  uint64_t RefusedBy(server::Server& at, Refusal refusal) {
    return at.broker().notary().refused(Origin::kEngine, refusal);
  }
  void EvictAll(server::Server& at) { ASSERT_TRUE(at.broker().EvictAll().ok()); }
  static void TrustOnly(const std::string& path, const std::vector<server::TrustedKeys::Entry>& entries) {
    std::string text;
    for (const server::TrustedKeys::Entry& entry : entries)
      absl::StrAppend(&text, server::TrustedKeys::FormatLine(entry), "\n");
    ASSERT_EQ(server::ReplaceFile(path, text, 0644), absl::OkStatus());
  }
  // A result that names kEvil, whose bytes the thief has put into the engine.
  std::string EvilResult(v1::ActionResult result) {
    const cache::Digest digest = cache::Digest::Of(kEvil);
    EXPECT_EQ(thief.shared_blobs->Put(digest, cache::Blob(std::string(kEvil))), absl::OkStatus());
    result.mutable_artifacts(0)->set_digest(digest.ToHex());
    result.mutable_artifacts(0)->set_size_bytes(sizeof(kEvil) - 1);
    return result.SerializeAsString();
  }
  static std::string Sign(const server::SigningKey& by, Purpose purpose, const std::string& key,
                          const std::string& payload, absl::Duration ago = absl::ZeroDuration()) {
    return server::WriteRecord({purpose, *cache::Digest::FromHex(key), {}, absl::Now() - ago, {}, ""}, payload, by);
  }
  const server::SigningKey& cluster_key() const { return *cluster_key_; }

  cache::OpenedCache thief;                                                   // Has the engine's password.
  const server::SigningKey stolen_nothing = *server::SigningKey::Generate();  // A key that nobody trusts.
};

TEST_F(ProvenanceTest, RecordsPlantedAtTheEngineAreRefusedCountedAndCompiledAgain) {
  Start();
  const v1::CompileResponse good = CompileOk(*compile, WholeRequest("kernel"));
  const std::string another = CompileOk(*compile, WholeRequest("another kernel")).key();
  Await([&] { return daemon().broker().cluster()->flight_stats().held == 0; });
  StartOther();
  Await([&] { return other->broker().targets().Find("cuda:90").has_value(); });
  const std::string key = good.key();
  const cache::Digest digest = *cache::Digest::FromHex(key);
  const std::string evil = EvilResult(good.result());
  std::string flipped = Sign(cluster_key(), Purpose::kResult, key, evil);
  flipped[flipped.size() / 2] ^= 1;
  const std::string genuine = Sign(cluster_key(), Purpose::kResult, key, good.result().SerializeAsString());
  const std::pair<std::string, Refusal> forgeries[] = {
      {evil, Refusal::kUnsigned},
      {Sign(stolen_nothing, Purpose::kResult, key, evil), Refusal::kUnknownSigner},
      {Sign(cluster_key(), Purpose::kResult, another, evil), Refusal::kWrongKey},
      {Sign(cluster_key(), Purpose::kError, key, evil), Refusal::kWrongKey},
      {flipped, Refusal::kBadSignature},
      {genuine.substr(0, genuine.size() - 1), Refusal::kMalformed},
  };
  for (const auto& [forgery, refusal] : forgeries) {
    SCOPED_TRACE(server::RefusalName(refusal));
    EvictAll(*other);
    const uint64_t refused = RefusedBy(*other, refusal);
    ASSERT_EQ(thief.shared_results->Put(digest, cache::Blob(forgery)), absl::OkStatus());
    const v1::CompileResponse answer = CompileOk(*other_compile, WholeRequest("kernel"));
    EXPECT_EQ(answer.cache(), v1::CACHE_STATUS_MISS);
    ASSERT_EQ(answer.blobs_size(), 1);
    EXPECT_EQ(answer.blobs(0).data(), good.blobs(0).data());
    EXPECT_GT(RefusedBy(*other, refusal), refused);
    // What it compiled takes the forgery's place.
    Await([&] { return other->broker().cluster()->flight_stats().held == 0; });
    const auto shared = thief.shared_results->Get(digest);
    ASSERT_TRUE(shared.ok());
    EXPECT_NE(shared->bytes(), forgery);
  }
  // The same genuine record is taken, so that it is the forgery that was refused.
  EvictAll(*other);
  ASSERT_EQ(thief.shared_blobs->Put(*cache::Digest::FromHex(good.result().artifacts(0).digest()),
                                    cache::Blob(good.blobs(0).data())),
            absl::OkStatus());
  ASSERT_EQ(thief.shared_results->Put(digest, cache::Blob(genuine)), absl::OkStatus());
  EXPECT_EQ(CompileOk(*other_compile, WholeRequest("kernel")).cache(), v1::CACHE_STATUS_HIT);
}

TEST_F(ProvenanceTest, AnErrorThatIsPlantedAtTheEngineStopsNoCompile) {
  Start();
  const std::string key = CompileOk(*compile, WholeRequest("kernel")).key();
  v1::Failure failure;
  failure.set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
  failure.set_message("planted");
  const std::string text = failure.SerializeAsString();
  const std::pair<std::string, Refusal> forgeries[] = {
      {text, Refusal::kUnsigned},
      {Sign(stolen_nothing, Purpose::kError, key, text), Refusal::kUnknownSigner},
      {Sign(cluster_key(), Purpose::kResult, key, text), Refusal::kWrongKey},
      {Sign(cluster_key(), Purpose::kError, std::string(64, 'a'), text), Refusal::kWrongKey},
      {Sign(cluster_key(), Purpose::kError, key, text, /*ago=*/absl::Hours(1)), Refusal::kExpired},
  };
  for (const auto& [forgery, refusal] : forgeries) {
    SCOPED_TRACE(server::RefusalName(refusal));
    Await([&] { return daemon().broker().cluster()->flight_stats().held == 0; });
    EvictAll(daemon());
    const uint64_t refused = RefusedBy(daemon(), refusal);
    const cache::KeyLease lease{*cache::Digest::FromHex(key), "thief", 0};
    ASSERT_TRUE(*thief.leases->PublishError(lease, forgery, absl::Hours(1)));
    EXPECT_EQ(CompileOk(*compile, WholeRequest("kernel")).cache(), v1::CACHE_STATUS_MISS);
    EXPECT_GT(RefusedBy(daemon(), refusal), refused);
  }
  // The same error, soundly signed and fresh, is believed.
  Await([&] { return daemon().broker().cluster()->flight_stats().held == 0; });
  EvictAll(daemon());
  const cache::KeyLease lease{*cache::Digest::FromHex(key), "daemon", 0};
  ASSERT_TRUE(*thief.leases->PublishError(lease, Sign(cluster_key(), Purpose::kError, key, text), absl::Hours(1)));
  v1::CompileResponse response;
  EXPECT_THAT(Compile(WholeRequest("kernel"), &response).error_message(), HasSubstr("planted"));
}

TEST_F(ProvenanceTest, AnOfferThatNoDaemonSignedIsNotRun) {
  Start();
  const v1::CompileResponse made = CompileOk(*compile, WholeRequest("kernel"));
  const uint64_t started = daemon().broker().scheduler().GetStats().started;
  EvictAll(daemon());
  v1::CompileRequest request = WholeRequest("kernel");
  request.add_outputs(v1::STAGE_BINARY);
  cache::StreamEntry offer;
  offer.stream = {made.result().build_id(), "interactive:cuda:90+binary"};
  offer.key = made.key();
  offer.asker = "thief/1";
  offer.body = request.SerializeAsString();
  ASSERT_TRUE(thief.jobs->Add(offer).ok());
  Await([&] { return RefusedBy(daemon(), Refusal::kUnsigned) == 1; });
  // Signed for another asker.
  offer.body = Sign(cluster_key(), Purpose::kOffer, made.key(), offer.body);
  ASSERT_TRUE(thief.jobs->Add(offer).ok());
  Await([&] { return RefusedBy(daemon(), Refusal::kWrongKey) == 1; });
  EXPECT_EQ(daemon().broker().scheduler().GetStats().started, started);
}

TEST_F(ProvenanceTest, DaemonsThatDoNotTrustEachOtherCompileForThemselvesAndSayWhy) {
  Start();
  const v1::CompileResponse first = CompileOk(*compile, WholeRequest("kernel"));
  Await([&] { return daemon().broker().cluster()->flight_stats().held == 0; });
  config.signing_key = NewSigningKey("other.key");
  StartOther();
  Await([&] { return other->broker().targets().Find("cuda:90").has_value(); });
  const v1::CompileResponse second = CompileOk(*other_compile, WholeRequest("kernel"));
  EXPECT_EQ(second.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_NE(second.result().signer(), first.result().signer());
  const auto metrics = httplib::Client("127.0.0.1", other->http_port()).Get("/metrics");
  ASSERT_TRUE(metrics);
  const std::string refused = "tritond_records_refused_total{origin=\"engine\",reason=\"unknown_signer\"} ";
  EXPECT_THAT(metrics->body, HasSubstr(refused));
  EXPECT_THAT(metrics->body, testing::Not(HasSubstr(refused + "0")));
}

// Two daemons with keys of their own, and a list of both.
class TwoKeysTest : public ProvenanceTest {
 protected:
  void SetUp() override {
    ProvenanceTest::SetUp();
    if (IsSkipped()) return;
    config.signing_key = NewSigningKey("one.key", &one);
    config.trusted_keys = Path("list");
    NewSigningKey("two.key", &two);
    TrustOnly(Path("list"), {one, two});
    Start();
    made = CompileOk(*compile, Request("kernel"));
    Await([&] { return daemon().broker().cluster()->flight_stats().held == 0; });
    config.signing_key = Path("two.key");
    StartOther();
    Await([&] { return other->broker().targets().Find("cuda:90").has_value(); });
  }

  server::TrustedKeys::Entry one{stolen_nothing.public_key(), ""}, two = one;
  v1::CompileResponse made;
};

TEST_F(TwoKeysTest, DaemonsThatShareAListShareResultsAsTheyWereSigned) {
  const v1::CompileResponse taken = CompileOk(*other_compile, Request("kernel"));
  EXPECT_EQ(taken.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(taken.result().signer(), one.key.id().ToHex());
  EXPECT_EQ(taken.result().SerializeAsString(), made.result().SerializeAsString());
  EXPECT_EQ(RefusedBy(*other, Refusal::kUnknownSigner), 0u);
}

TEST_F(TwoKeysTest, WhenAKeyIsRevokedItsResultsAndWhatWasMadeOfThemCountNoMore) {
  EXPECT_EQ(CompileOk(*other_compile, Request("kernel")).cache(), v1::CACHE_STATUS_HIT);
  // The same kernel in another spelling: the second daemon signs it, from what the first one signed.
  const v1::CompileRequest respelled = Request("spelling respelled\nkernel");
  const v1::CompileResponse derived = CompileOk(*other_compile, respelled);
  EXPECT_EQ(derived.result().signer(), two.key.id().ToHex());
  ASSERT_EQ(other->broker().metrics().semantic_hits.Value(), 1);
  EXPECT_EQ(CompileOk(*other_compile, respelled).cache(), v1::CACHE_STATUS_HIT);
  one.revoked = true;
  TrustOnly(Path("list"), {one, two});
  Await([&] { return !other->broker().notary().Trusts(one.key.id()); });
  const v1::CompileResponse again = CompileOk(*other_compile, Request("kernel"));
  EXPECT_EQ(again.cache(), v1::CACHE_STATUS_MISS);
  EXPECT_EQ(again.result().signer(), two.key.id().ToHex());
  EXPECT_EQ(other->broker().scheduler().GetStats().started, 2u) << "the respelled one, and this one";
  EXPECT_TRUE(absl::IsNotFound(other->broker().store().Find(derived.key()).status()));
}

TEST_F(TwoKeysTest, ARolledKeySignsWithoutARestartAndLosesNothing) {
  ASSERT_EQ(CompileOk(*other_compile, Request("kernel")).cache(), v1::CACHE_STATUS_HIT);
  const v1::CompileResponse before = CompileOk(*other_compile, Request("signed before"));
  EXPECT_EQ(before.result().signer(), two.key.id().ToHex());
  server::TrustedKeys::Entry three = two;
  const server::SigningKey key = *server::SigningKey::Generate();
  three = {key.public_key(), "three", false};
  TrustOnly(Path("list"), {one, two, three});
  ASSERT_EQ(server::WriteSigningKey(Path("two.key"), key, /*replace=*/true), absl::OkStatus());
  Await([&] { return other->broker().notary().public_key().id() == three.key.id(); });
  EXPECT_EQ(CompileOk(*other_compile, Request("signed before")).cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(CompileOk(*other_compile, Request("signed later")).result().signer(), three.key.id().ToHex());
}

class OwnKeyTest : public DaemonTest {
 protected:
  // Without steps, which are records of their own.
  v1::CompileResponse CompileOk(const std::string& ir) {
    v1::CompileRequest request = Request(ir);
    request.set_debug_info(true);
    v1::CompileResponse response;
    const grpc::Status status = Compile(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
};

TEST_F(OwnKeyTest, WithoutConfigurationAKeyIsMadeAndResultsSurviveARestart) {
  Start();
  const v1::CompileResponse first = CompileOk("kernel");
  struct stat info;
  ASSERT_EQ(stat((config.data_dir + "/signing.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(first.result().signer(), daemon().broker().notary().public_key().id().ToHex());
  EXPECT_FALSE(first.result().daemon().empty());
  EXPECT_FALSE(first.result().worker().empty());
  Stop();
  Start();
  const v1::CompileResponse again = CompileOk("kernel");
  EXPECT_EQ(again.cache(), v1::CACHE_STATUS_HIT);
  EXPECT_EQ(again.result().signer(), first.result().signer());
}

TEST_F(OwnKeyTest, WithAnotherKeyWhatIsStoredIsAMissAndNoError) {
  Start();
  CompileOk("kernel");
  Stop();
  ASSERT_EQ(unlink((config.data_dir + "/signing.key").c_str()), 0);
  Start();
  EXPECT_EQ(CompileOk("kernel").cache(), v1::CACHE_STATUS_MISS);
  EXPECT_GE(daemon().broker().notary().refused(Origin::kOwn, Refusal::kUnknownSigner), 1u);
  EXPECT_EQ(CompileOk("kernel").cache(), v1::CACHE_STATUS_HIT);
}

TEST_F(OwnKeyTest, UnsignedResultsOfAnEarlierVersionAreMissesAndNoErrors) {
  Start();
  const v1::CompileResponse made = CompileOk("kernel");
  Stop();
  {
    cache::CacheConfig folder;
    folder.data_dir = config.data_dir;
    prometheus::Registry registry;
    const auto opened = cache::OpenCache(folder, registry);
    ASSERT_TRUE(opened.ok()) << opened.status();
    const cache::Digest key = *cache::Digest::FromHex(made.key());
    ASSERT_EQ(opened->results->Put(key, cache::Blob(made.result().SerializeAsString())), absl::OkStatus());
  }
  Start();
  EXPECT_EQ(CompileOk("kernel").cache(), v1::CACHE_STATUS_MISS);
}

TEST_F(OwnKeyTest, ABrokenListOfKeysFailsTheStart) {
  config.trusted_keys = Path("list");
  std::ofstream(config.trusted_keys) << "ed25519:AAAA= broken\n";
  const auto started = server::Server::Start(config, [](const std::string&) {});
  EXPECT_TRUE(absl::IsInvalidArgument(started.status())) << started.status();
  EXPECT_THAT(std::string(started.status().message()), HasSubstr(config.trusted_keys + ": line 1"));
}

}  // namespace
}  // namespace tritond::tests
