// SPDX-License-Identifier: Apache-2.0
#include "workers/runner/command_line.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "workers/runner/limits.h"
#include "workers/runner/runner.h"

namespace tritond::workers {
namespace {

constexpr int kExitStopped = 0;
constexpr int kExitLost = 1;
constexpr int kExitUsage = 2;

// The supervised child, for the signal handler; set before the handler is installed.
volatile sig_atomic_t supervised = 0;
volatile sig_atomic_t stop_requested = 0;

void PassOn(int signal) {
  stop_requested = 1;
  if (supervised > 0) kill(supervised, signal);
}

// Runs `work` in one child process after the other. The process has a single thread here, so forking is safe.
int Supervise(const std::function<int()>& work) {
  struct sigaction action {};
  action.sa_handler = PassOn;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  absl::Duration pause;
  while (stop_requested == 0) {
    const absl::Time started = absl::Now();
    const pid_t child = fork();
    if (child < 0) return kExitLost;
    if (child == 0) {
      signal(SIGTERM, SIG_DFL);
      signal(SIGINT, SIG_DFL);
      _exit(work());
    }
    supervised = child;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    supervised = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kExitUsage) return kExitUsage;
    const bool lived = absl::Now() - started > absl::Seconds(10);
    pause = lived ? absl::Milliseconds(100) : std::clamp(pause * 2, absl::Milliseconds(100), absl::Seconds(10));
    if (stop_requested == 0) absl::SleepFor(pause);
  }
  return kExitStopped;
}

}  // namespace

int WorkerMain(int argc, char** argv, const std::function<std::unique_ptr<compiler::Compiler>()>& make_compiler,
               std::function<void(compiler::Stage, const compiler::CompileRequest&)> on_stage) {
  CLI::App app("Compiles kernels for a tritond daemon.");
  RunnerOptions options;
  options.version = TRITOND_VERSION;
  options.on_stage = std::move(on_stage);
  uint64_t memory_limit_mb = 0;
  uint64_t recycle_mb = 4096;
  options.max_jobs = 1000;
  bool once = false;
  bool no_sandbox = false;
  app.add_option("--server", options.server, "The daemon: HOST:PORT or unix:PATH")->required();
  app.add_option("--tls-ca", options.credentials.ca, "Talk TLS; the daemon's certificate authority, PEM")
      ->type_name("FILE");
  app.add_option("--tls-cert", options.credentials.certificate, "This worker's certificate, PEM")->type_name("FILE");
  app.add_option("--tls-key", options.credentials.key, "Its private key, PEM")->type_name("FILE");
  app.add_option("--token-file", options.credentials.token, "A file with a bearer token")->type_name("FILE");
  app.add_option("--name", options.name, "What people see; default HOST/PID");
  app.add_option("--memory-limit-mb", memory_limit_mb, "Most memory that a compile may use; 0: no limit");
  app.add_option("--recycle-jobs", options.max_jobs, "End in order after so many jobs, for a fresh start; 0: never")
      ->capture_default_str();
  app.add_option("--recycle-mb", recycle_mb, "And with more resident memory than this after a job; 0: never")
      ->capture_default_str();
  app.add_flag("--once", once, "End when the connection ends, instead of connecting again");
  app.add_flag("--no-sandbox", no_sandbox, "Do not forbid system calls that a compiler never needs");
  app.set_version_flag("--version", options.version);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // CLI11 reports by exception; it ends here.
    const int code = app.exit(error);
    return code == 0 ? 0 : kExitUsage;
  }
  options.sandbox = !no_sandbox;
  options.max_resident_bytes = recycle_mb << 20;

  auto work = [&] {
    absl::Status limited = LimitProcess(memory_limit_mb << 20);
    if (!limited.ok()) {
      fprintf(stderr, "%s\n", limited.ToString().c_str());
      return kExitUsage;
    }
    std::unique_ptr<compiler::Compiler> compiler = make_compiler();
    absl::Status served = RunWorker(options, *compiler);
    if (served.ok()) return kExitStopped;
    fprintf(stderr, "%s\n", std::string(served.message()).c_str());
    return kExitLost;
  };
  return once ? work() : Supervise(work);
}

}  // namespace tritond::workers
