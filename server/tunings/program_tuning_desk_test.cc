// SPDX-License-Identifier: Apache-2.0
#include "server/tunings/program_tuning_desk.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/fake_cache.h"
#include "tests/support/fake_cluster.h"

namespace tritond::server {
namespace {

using tests::FakeLeases;
using tests::FakeTime;

v1::ProgramTuning Tuning(const std::string& winner) {
  v1::ProgramTuning tuning;
  tuning.set_winner(winner);
  tuning.add_timings()->add_milliseconds(1);
  return tuning;
}

// One daemon's desk.
struct Desk {
  Desk(FakeTime& time, cache::Cache& records, cache::KeyLeaseTable* leases, const std::string& name,
       ProgramTuningDesk::Config config = {})
      : store(records, 100) {
    config.owner = name;
    desk = std::make_unique<ProgramTuningDesk>(
        config, [&time] { return time.Now(); }, time, [this, name] { return absl::StrCat(name, ++tickets); }, store,
        leases);
  }
  TuningStore store;
  int tickets = 0;
  std::unique_ptr<ProgramTuningDesk> desk;
};

// One caller.
struct Caller {
  // "": not answered; "ticket T", "winner W", "alone".
  std::string said;
  uint64_t id = 0;

  void Ask(Desk& at, absl::Duration wait = absl::Seconds(60), bool may_measure = true, const std::string& key = "key") {
    id = at.desk->Acquire(cache::Digest::Of(key), wait, may_measure, [this](ProgramTuningDesk::Answer answer) {
      EXPECT_EQ(said, "");
      said = answer.stored.has_value() ? "winner " + answer.stored->winner()
             : !answer.ticket.empty()  ? "ticket " + answer.ticket
                                       : "alone";
    });
  }
};

class TuningDeskTest : public testing::Test {
 protected:
  // Time with the ticks of the daemons.
  void Pass(absl::Duration duration) {
    for (absl::Duration passed; passed < duration; passed += absl::Milliseconds(100)) {
      time_.Pass(absl::Milliseconds(100));
      one_.desk->Tick();
      two_.desk->Tick();
    }
  }
  void PassNothing() { time_.Pass(absl::ZeroDuration()); }
  absl::Status Store(Desk& at, const std::string& ticket, const std::string& winner, const std::string& key = "key") {
    absl::Status status = absl::UnknownError("not called");
    at.desk->Store(ticket, cache::Digest::Of(key), Tuning(winner), [&](absl::Status stored) { status = stored; });
    PassNothing();
    return status;
  }

  FakeTime time_;
  tests::FakeCache records_;  // That daemons share.
  FakeLeases leases_{time_};
  Desk one_{time_, records_, &leases_, "one"};
  Desk two_{time_, records_, &leases_, "two"};
};

TEST_F(TuningDeskTest, OneMeasuresAndTheOthersGetItsWinner) {
  Caller first, second, third;
  first.Ask(one_);
  second.Ask(one_);
  third.Ask(one_, absl::Seconds(60), /*may_measure=*/false);
  PassNothing();
  EXPECT_EQ(first.said, "ticket one1");
  EXPECT_EQ(second.said, "");
  EXPECT_TRUE(Store(one_, "one1", "w").ok());
  EXPECT_EQ(second.said, "winner w");
  EXPECT_EQ(third.said, "winner w");
  Caller later;
  later.Ask(one_);
  PassNothing();
  EXPECT_EQ(later.said, "winner w");
  const ProgramTuningDesk::Stats stats = one_.desk->GetStats();
  EXPECT_EQ(stats.granted, 1u);
  EXPECT_EQ(stats.measured, 1u);
  EXPECT_EQ(stats.shared, 3u);
  EXPECT_EQ(stats.measuring + stats.waiting, 0u);
}

TEST_F(TuningDeskTest, WaitsEndInTime) {
  Caller first, second, impatient;
  first.Ask(one_);
  second.Ask(one_, absl::Seconds(5));
  impatient.Ask(one_, absl::ZeroDuration());
  PassNothing();
  EXPECT_EQ(impatient.said, "alone");
  Pass(absl::Seconds(4));
  EXPECT_EQ(second.said, "");
  Pass(absl::Seconds(2));
  EXPECT_EQ(second.said, "alone");
}

TEST_F(TuningDeskTest, ATicketThatIsNotRenewedGoesToTheNext) {
  Caller first, second;
  first.Ask(one_);
  second.Ask(one_);
  Pass(absl::Seconds(10));
  EXPECT_TRUE(one_.desk->Renew("one1").ok());
  Pass(absl::Seconds(10));
  EXPECT_EQ(second.said, "");
  Pass(absl::Seconds(10));
  EXPECT_EQ(second.said, "ticket one2");
  EXPECT_TRUE(absl::IsNotFound(one_.desk->Renew("one1")));
  EXPECT_TRUE(absl::IsNotFound(Store(one_, "one1", "late")));
  EXPECT_EQ(one_.desk->GetStats().lost, 1u);
  EXPECT_TRUE(Store(one_, "one2", "w").ok());
}

TEST_F(TuningDeskTest, ATicketDoesNotLastForEver) {
  Caller first;
  first.Ask(one_);
  PassNothing();
  absl::Time end = time_.Now() + absl::Minutes(40);
  while (time_.Now() < end && one_.desk->Renew("one1").ok()) Pass(absl::Seconds(5));
  EXPECT_LT(time_.Now(), end - absl::Minutes(9));
  EXPECT_EQ(one_.desk->GetStats().measuring, 0u);
}

TEST_F(TuningDeskTest, ATicketThatIsGivenBackGoesToTheNext) {
  Caller first, second;
  first.Ask(one_);
  second.Ask(one_);
  PassNothing();
  one_.desk->Abandon("one1");
  Pass(absl::Seconds(1));
  EXPECT_EQ(second.said, "ticket one2");
  one_.desk->Abandon("one1");
  EXPECT_TRUE(one_.desk->Renew("one2").ok());
}

TEST_F(TuningDeskTest, CallersThatHaveGoneGetNothing) {
  Caller first, second, third;
  first.Ask(one_);
  second.Ask(one_);
  third.Ask(one_);
  EXPECT_TRUE(one_.desk->Leave(first.id));
  EXPECT_FALSE(one_.desk->Leave(first.id));
  PassNothing();
  EXPECT_EQ(second.said, "ticket one1");
  EXPECT_FALSE(one_.desk->Leave(second.id));
  EXPECT_TRUE(one_.desk->Leave(third.id));
  EXPECT_TRUE(Store(one_, "one1", "w").ok());
  EXPECT_EQ(third.said, "");
}

TEST_F(TuningDeskTest, ACallerThatMayNotMeasureHearsAtOnceThatNoneDoes) {
  Caller reader;
  reader.Ask(one_, absl::Seconds(60), /*may_measure=*/false);
  PassNothing();
  EXPECT_EQ(reader.said, "alone");
}

TEST_F(TuningDeskTest, ATicketIsForOneKey) {
  Caller first;
  first.Ask(one_);
  PassNothing();
  EXPECT_TRUE(absl::IsInvalidArgument(Store(one_, "one1", "w", "another key")));
  EXPECT_TRUE(Store(one_, "one1", "w").ok());
}

TEST_F(TuningDeskTest, NoMoreWaitAndMeasureThanMay) {
  ProgramTuningDesk::Config config;
  config.max_tickets = 1;
  config.max_waiters = 2;
  Desk small(time_, records_, nullptr, "small", config);
  Caller first, second, third, fourth;
  first.Ask(small);
  PassNothing();
  second.Ask(small, absl::Seconds(60), true, "other key");
  PassNothing();
  EXPECT_EQ(first.said, "ticket small1");
  EXPECT_EQ(second.said, "alone");
  Caller waiting[2];
  for (Caller& caller : waiting) caller.Ask(small);
  third.Ask(small);
  fourth.Ask(small, absl::Seconds(60), true, "other key");
  EXPECT_EQ(third.said, "alone");
  EXPECT_EQ(fourth.said, "alone");
  EXPECT_EQ(waiting[0].said + waiting[1].said, "");
}

TEST_F(TuningDeskTest, OneDaemonOfTheClusterMeasures) {
  Caller first, second, reader;
  first.Ask(one_);
  PassNothing();
  second.Ask(two_);
  reader.Ask(two_, absl::Seconds(60), /*may_measure=*/false);
  Pass(absl::Seconds(2));
  EXPECT_EQ(first.said, "ticket one1");
  EXPECT_EQ(second.said + reader.said, "");
  EXPECT_TRUE(Store(one_, "one1", "w").ok());
  Pass(absl::Seconds(2));
  EXPECT_EQ(second.said, "winner w");
  EXPECT_EQ(reader.said, "winner w");
}

TEST_F(TuningDeskTest, ADaemonThatDiesLeavesTheRightToAnother) {
  Caller first, second;
  first.Ask(one_);
  PassNothing();
  second.Ask(two_);
  Pass(absl::Seconds(10));
  EXPECT_TRUE(one_.desk->Renew("one1").ok());
  Pass(absl::Seconds(10));
  EXPECT_EQ(second.said, "");
  Pass(absl::Seconds(10));
  EXPECT_EQ(second.said, "ticket two1");
}

TEST_F(TuningDeskTest, WithoutTheEngineEachDaemonMeasures) {
  leases_.away = true;
  Caller first, second;
  first.Ask(one_);
  second.Ask(two_);
  PassNothing();
  EXPECT_EQ(first.said, "ticket one1");
  EXPECT_EQ(second.said, "ticket two1");
}

TEST_F(TuningDeskTest, AWinnerThatCannotBeStoredReachesThoseThatWait) {
  records_.full = true;
  Desk small(time_, records_, nullptr, "small");
  Caller first, second;
  first.Ask(small);
  second.Ask(small);
  PassNothing();
  EXPECT_TRUE(absl::IsUnavailable(Store(small, "small1", "w")));
  EXPECT_EQ(second.said, "winner w");
}

}  // namespace
}  // namespace tritond::server
