// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command_line.h"

#include "client/cli/usage_error.h"

namespace tritond::client {
namespace {

void AddServerFlags(CLI::App* app, ServerFlags* flags) {
  app->add_option("--server", flags->address,
                  "HOST:PORT or unix:PATH; several are separated by commas (environment: TRITOND_SERVER)")
      ->type_name("ADDRESS")
      ->capture_default_str();
  app->add_option("--timeout", flags->timeout_seconds, "Time limit of one kernel or call")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--wait", flags->wait_seconds, "Time to wait for a server that does not answer yet")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--fallback", flags->fallback_seconds,
                  "Give up after SECONDS, or at once if no server can help, and exit with status 3, so that a script "
                  "can compile locally")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app->add_flag("--tls", flags->tls, "Use TLS with the certificate authorities of the system");
  app->add_option("--tls-ca", flags->ca_file, "PEM file of the certificate authority of the server; turns TLS on")
      ->type_name("FILE");
  app->add_option("--tls-cert", flags->certificate_file, "PEM file of the certificate of this client")
      ->type_name("FILE");
  app->add_option("--tls-key", flags->key_file, "PEM file of the private key of --tls-cert")->type_name("FILE");
  app->add_option("--token-file", flags->token_file, "File with a bearer token")->type_name("FILE");
}

}  // namespace

CommandTree::CommandTree(const std::string& default_server)
    : app("Asks a tritond daemon for compiled GPU kernels.", "triton-client") {
  app.require_subcommand(1);
  app.fallthrough();  // --server may stand after the command too
  app.set_version_flag("--version", std::string("triton-client ") + TRITOND_VERSION);
  app.footer(
      "Exit status: 0 done, 1 some kernel failed to compile or to run, 2 usage, 3 no server (or it drains) or, with "
      "--fallback, one that cannot help with this kernel now.");
  server.address = default_server;
  AddServerFlags(&app, &server);

  CLI::App* bundle = app.add_subcommand("bundle", "Export results into a file, and import them into other daemons");
  bundle->require_subcommand(1);
  CLI::App* quarantine = app.add_subcommand("quarantine", "Manage the kernels that killed workers");
  quarantine->require_subcommand(1);
  commands = {AddCompile(&app),
              AddPrebuild(&app),
              AddRun(&app),
              AddAutotune(&app),
              AddGet(&app),
              AddStats(&app),
              AddWorkers(&app),
              AddSubmit(&app),
              AddWatch(&app),
              AddJobs(&app),
              AddCancel(&app),
              AddExplain(&app),
              AddDrain(&app),
              AddResume(&app),
              AddEvict(&app),
              AddQuarantineList(quarantine),
              AddQuarantineRelease(quarantine),
              AddBundleExport(bundle),
              AddBundleImport(bundle),
              AddBundleList(bundle),
              AddBundleExtract(bundle),
              AddCompletion(&app),
              AddMan(&app)};
}

int RunCommandLine(int argc, const char* const* argv, const std::string& default_server, const Console& console) {
  CommandTree tree(default_server);
  try {
    tree.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // CLI11 reports bad flags, and --help, by throwing
    if (error.get_exit_code() == 0) return tree.app.exit(error, console.out, console.err) == 0 ? kDone : kUsage;
    console.err << UsageError(tree.app, error) << std::flush;
    return kUsage;
  }
  for (const Command& command : tree.commands) {
    if (!command.app->parsed()) continue;
    const int code = command.run(Session{console, tree.server});
    if (console.out.flush() || code != kDone) return code;
    return Session{console, tree.server}.Fail(absl::InternalError("standard output: cannot be written"));
  }
  return kUsage;
}

}  // namespace tritond::client
