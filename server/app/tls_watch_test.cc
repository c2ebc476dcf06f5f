// SPDX-License-Identifier: Apache-2.0
#include "server/app/tls_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/support/certificates.h"

namespace tritond::server {
namespace {

using testing::HasSubstr;

class TlsWatchTest : public testing::Test {
 protected:
  TlsWatchTest() {
    std::filesystem::create_directories(folder_);
    WriteServer(first_);
    Write("ca.pem", authority_.certificate());
  }
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/" + name) << text; }
  void WriteServer(const tests::KeyPair& pair) {
    Write("server.pem", pair.certificate);
    Write("server.key", pair.key);
  }
  absl::StatusOr<std::unique_ptr<TlsWatch>> Open() {
    return TlsWatch::Open({folder_ + "/server.pem", folder_ + "/server.key", folder_ + "/ca.pem"},
                          [this](const LogEvent& event) { log_.push_back(event); });
  }

  const std::string folder_ =
      testing::TempDir() + "/tritond_tls_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const tests::CertificateAuthority authority_{"authority"};
  const tests::KeyPair first_ = authority_.Issue("first"), second_ = authority_.Issue("second");
  std::vector<LogEvent> log_;
};

TEST_F(TlsWatchTest, ServesASoundSetAndReplacesItAsAWhole) {
  auto watch = Open();
  ASSERT_TRUE(watch.ok()) << watch.status();
  EXPECT_EQ((*watch)->served().key, first_.key);
  for (const tests::KeyPair& next : {second_, first_, second_}) {
    WriteServer(next);
    (*watch)->Reload();
    EXPECT_EQ((*watch)->served().key, next.key);
    EXPECT_EQ((*watch)->served().certificate, next.certificate);
    EXPECT_EQ((*watch)->served().client_ca, authority_.certificate());
  }
  EXPECT_EQ(log_.size(), 3u);
}

TEST_F(TlsWatchTest, AnUnsoundSetIsReportedOnceAndTheEarlierOneStays) {
  auto watch = Open();
  ASSERT_TRUE(watch.ok()) << watch.status();
  const std::string &certificate = first_.certificate, &ca = authority_.certificate();
  const struct {
    std::string name, text;
  } wrong[] = {{"server.key", ""},
               {"server.key", "garbage"},
               {"server.key", second_.key},
               {"server.pem", ""},
               {"server.pem", certificate.substr(0, certificate.size() / 2)},
               {"server.pem", certificate + ca.substr(0, ca.size() / 2)},
               {"ca.pem", ""},
               {"ca.pem", "garbage"},
               {"ca.pem", ca + certificate.substr(0, certificate.size() / 2)}};
  for (const auto& [name, text] : wrong) {
    log_.clear();
    Write(name, text);
    (*watch)->Reload();
    (*watch)->Reload();
    EXPECT_EQ((*watch)->served().key, first_.key);
    EXPECT_EQ((*watch)->served().certificate, certificate);
    EXPECT_EQ((*watch)->served().client_ca, ca);
    ASSERT_EQ(log_.size(), 1u) << name << ": " << text;
    EXPECT_EQ(log_[0].level, LogEvent::Level::kWarning);
    EXPECT_THAT(log_[0].message, HasSubstr(name));
    EXPECT_EQ((*watch)->problem(), log_[0].message);
    WriteServer(first_);
    Write("ca.pem", ca);
    (*watch)->Reload();
    EXPECT_EQ((*watch)->problem(), "");
  }
  std::filesystem::remove(folder_ + "/server.key");
  (*watch)->Reload();
  EXPECT_THAT(log_.back().message, HasSubstr("server.key"));
  EXPECT_EQ((*watch)->served().key, first_.key);
}

TEST_F(TlsWatchTest, WhetherClientsAreAskedIsFixedWhenItOpens) {
  auto with = Open();
  auto without = TlsWatch::Open({folder_ + "/server.pem", folder_ + "/server.key", ""}, [](const LogEvent&) {});
  ASSERT_TRUE(with.ok() && without.ok()) << with.status() << without.status();
  EXPECT_EQ((*without)->served().client_ca, "");
  // A renewal cannot drop the authority: that would let in clients that the operator wanted to be asked.
  std::filesystem::remove(folder_ + "/ca.pem");
  WriteServer(second_);
  (*with)->Reload();
  (*without)->Reload();
  EXPECT_EQ((*with)->served().key, first_.key);
  EXPECT_EQ((*with)->served().client_ca, authority_.certificate());
  EXPECT_THAT((*with)->problem(), HasSubstr("ca.pem"));
  EXPECT_EQ((*without)->served().key, second_.key);
  EXPECT_EQ((*without)->problem(), "");
  // Nor does one beside them add it.
  Write("ca.pem", authority_.certificate());
  (*with)->Reload();
  (*without)->Reload();
  EXPECT_EQ((*with)->served().key, second_.key);
  EXPECT_EQ((*without)->served().client_ca, "");
}

TEST_F(TlsWatchTest, DoesNotOpenWhatIsNotSound) {
  Write("server.key", second_.key);
  EXPECT_TRUE(absl::IsInvalidArgument(Open().status()));
}

}  // namespace
}  // namespace tritond::server
