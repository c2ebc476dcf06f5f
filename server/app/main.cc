// SPDX-License-Identifier: Apache-2.0
// tritond: the daemon. Parses, starts, serves until a signal comes, shuts down. `tritond keys` is a command of its own.
#include <malloc.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "google/protobuf/stubs/logging.h"
#include "server/app/config.h"
#include "server/app/config_files.h"
#include "server/app/descriptor_limit.h"
#include "server/app/keys_command.h"
#include "server/app/log_line.h"
#include "server/app/server.h"
#include "server/app/service_notifier.h"
#include "timing/turns/turns.h"

namespace {

using tritond::server::LogEvent;

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

// Large IR and large artifacts come and go. What is at least this large is given back to the system when it is freed,
// and does not leave holes for good. Left alone, the allocator raises the limit to 32 MiB with the first that it frees.
constexpr int kLargeBytes = 256 << 10;
constexpr int kTrimBytes = 2 << 20;

void GiveLargeMemoryBack() {
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kTrimBytes);
}

// The signals that end or reload the daemon, blocked in every thread from now on.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

bool HasTerminal() { return isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO); }

// Until a signal ends the daemon, or it is idle for as long as its configuration says. SIGHUP reloads, but ends it
// where it means that the terminal is gone.
void Serve(const sigset_t& signals, tritond::server::Server& server, const tritond::server::ServiceNotifier& notifier) {
  constexpr timespec kSecond{1, 0};
  const bool watched = std::getenv("WATCHDOG_USEC") != nullptr;
  const bool had_terminal = HasTerminal();
  uint64_t ticks = 0;
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &kSecond);
    if (signal == SIGHUP && HasTerminal() == had_terminal) {
      notifier.TellReloading();
      server.Reload();
      notifier.Tell("READY=1");
    } else if (signal > 0 || server.idle()) {
      return;
    }
    if (watched && server.ticks() != ticks) notifier.Tell("WATCHDOG=1");
    ticks = server.ticks();
  }
}

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_DUMPABLE, 0);  // Its memory has tokens and everybody's kernels: not for workers, which are of its user.
  GiveLargeMemoryBack();
  // Debian builds Abseil with its search for lock cycles on. gRPC takes many of these locks, and would spend a tenth of
  // its time there.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Protobuf would write a line to stderr for each broken message that anybody sends.
  google::protobuf::SetLogHandler(nullptr);
  if (argc > 1 && absl::string_view(argv[1]) == "keys") return tritond::server::RunKeysCommand(argc - 1, argv + 1);
  absl::StatusOr<tritond::server::CommandLine> line = tritond::server::ParseCommandLine(argc, argv);
  if (!line.ok()) return line.status().message() == "0" ? 0 : kExitUsage;
  const tritond::server::ServerConfig& config = line->config;
  if (line->check_only)
    for (std::string& problem : tritond::server::FileProblems(config)) line->problems.push_back(std::move(problem));
  for (const std::string& problem : line->problems) fprintf(stderr, "tritond: %s\n", problem.c_str());
  if (!line->problems.empty()) return kExitUsage;
  if (line->check_only) {
    puts("tritond: the configuration is valid");
    return 0;
  }
  tritond::server::RaiseDescriptorLimit();
  tritond::timing::AskForShortTurns();  // Of all threads from here on, but those that ask for others.
  const sigset_t signals = BlockSignals();
  std::shared_ptr<spdlog::logger> logger =
      spdlog::stderr_logger_mt("tritond");  // Shared: spdlog's registry has it too.
  logger->set_pattern("%v");                // Lines come whole.
  const auto format =
      config.log_format == "json" ? tritond::server::LogFormat::kJson : tritond::server::LogFormat::kText;
  const tritond::server::LogSink log = [logger, format](const LogEvent& event) {
    logger->info("{}", tritond::server::FormatLogLine(event, absl::Now(), format));
  };
  const auto say = [&log](std::string event, std::string message) {
    log({LogEvent::Level::kInfo, std::move(event), std::move(message), {}});
  };

  auto server = tritond::server::Server::Start(config, log);
  if (!server.ok()) {
    fprintf(stderr, "tritond: %s\n", std::string(server.status().message()).c_str());
    return kExitFailure;
  }
  for (int port : (*server)->ports()) {
    if (port != 0) say("listening", absl::StrCat("listens on port ", port));
  }
  say("listening", absl::StrCat("listens on ", (*server)->local_address()));
  if ((*server)->http_port() != 0) say("listening", absl::StrCat("status page on port ", (*server)->http_port()));

  if ((*server)->redis_port() != 0) say("listening", absl::StrCat("Redis protocol on port ", (*server)->redis_port()));

  const tritond::server::ServiceNotifier notifier(std::getenv("NOTIFY_SOCKET"));
  notifier.Tell("READY=1");
  Serve(signals, **server, notifier);
  notifier.Tell("STOPPING=1");
  say("draining", "shuts down: running compiles may finish; another signal ends them");
  // The second signal kills as usual, but there is nothing to reload any more.
  signal(SIGHUP, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  (*server)->Shutdown(absl::Seconds(config.drain_grace_seconds));
  say("stopped", "done");
  return 0;
}
