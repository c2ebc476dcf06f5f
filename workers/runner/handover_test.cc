// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/handover.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace tritond::workers {
namespace {

class HandoverTest : public testing::Test {
 protected:
  // Runs it in a process of its own, as a supervisor does.
  void RunWorker(const std::function<void()>& work) {
    const pid_t pid = fork();
    if (pid == 0) {
      work();
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    handover_->Settle(status);
  }

  std::unique_ptr<Handover> handover_ = Handover::Create();
};

TEST_F(HandoverTest, TellsTheLeaseOfAProcessThatWasKilled) {
  RunWorker([&] {
    handover_->Hold(7);
    kill(getpid(), SIGKILL);
  });
  ASSERT_TRUE(handover_->last().has_value());
  EXPECT_EQ(handover_->last()->lease, 7u);
  EXPECT_EQ(handover_->last()->signal, SIGKILL);
}

TEST_F(HandoverTest, TellsTheExitStatusWhereThereWasNoSignal) {
  RunWorker([&] {
    handover_->Hold(7);
    _exit(3);
  });
  ASSERT_TRUE(handover_->last().has_value());
  EXPECT_EQ(handover_->last()->signal, 0);
  EXPECT_EQ(handover_->last()->exit_status, 3);
}

TEST_F(HandoverTest, HasNothingToTellOfOneThatHeldNoLeaseOrEndedInOrder) {
  RunWorker([&] {
    handover_->Hold(7);
    handover_->Hold(0);
    _exit(75);
  });
  EXPECT_FALSE(handover_->last().has_value());
  RunWorker([&] { handover_->Hold(8); });
  EXPECT_FALSE(handover_->last().has_value());
}

TEST_F(HandoverTest, TellsUntilADaemonHasHeardIt) {
  RunWorker([&] {
    handover_->Hold(7);
    _exit(3);
  });
  RunWorker([] { _exit(1); });  // It found no daemon.
  EXPECT_TRUE(handover_->last().has_value());
  RunWorker([&] { handover_->MarkTold(); });
  EXPECT_FALSE(handover_->last().has_value());
  RunWorker([&] {
    handover_->Hold(9);
    _exit(3);
  });
  RunWorker([&] {
    handover_->MarkTold();
    handover_->Hold(10);
    _exit(3);
  });
  ASSERT_TRUE(handover_->last().has_value());
  EXPECT_EQ(handover_->last()->lease, 10u);
}

TEST_F(HandoverTest, EachSupervisorHasAnotherName) {
  EXPECT_EQ(handover_->supervisor().size(), 32u);
  EXPECT_NE(handover_->supervisor(), Handover::Create()->supervisor());
}

}  // namespace
}  // namespace tritond::workers
