// SPDX-License-Identifier: Apache-2.0
// triton-client explain: why two requests have different keys.
#include <memory>

#include "client/cli/commands.h"
#include "client/cli/known_names.h"
#include "client/cli/message_json.h"

namespace tritond::client {
namespace {

struct ExplainFlags {
  std::string a;
  std::string b;
  bool all = false;
  bool json = false;
};

int Run(const Session& session, const ExplainFlags& flags) {
  auto client = session.Connect();
  if (!client.ok()) return session.NotConnected(client.status());
  const auto a = FindKey(session, **client, flags.a);
  if (!a.ok()) return session.NotConnected(a.status());
  const auto b = FindKey(session, **client, flags.b);
  if (!b.ok()) return session.NotConnected(b.status());
  const auto explained = (*client)->Explain(*a, *b, session.Deadline());
  if (!explained.ok()) return session.Fail(explained.status());
  std::ostream& out = session.console.out;
  if (flags.json) {
    out << MessageJson(*explained) << std::endl;
    return kDone;
  }
  bool differs = false;
  for (const auto& part : explained->parts()) {
    differs = differs || part.differs();
    if (part.differs()) {
      out << part.name() << ": " << part.a() << " | " << part.b() << "\n";
    } else if (flags.all) {
      out << part.name() << ": " << part.a() << "\n";
    }
  }
  if (!differs) out << "nothing differs\n";
  out.flush();
  return kDone;
}

}  // namespace

Command AddExplain(CLI::App* parent) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* app = parent->add_subcommand("explain", "Show which parts of two request keys differ");
  app->add_option("A", flags->a, "A request key, or at least its first four digits")->required();
  app->add_option("B", flags->b, "Another request key")->required();
  app->add_flag("--all", flags->all, "Also print equal parts");
  app->add_flag("--json", flags->json, "Print one JSON object");
  return {app, [flags](const Session& session) { return Run(session, *flags); }};
}

}  // namespace tritond::client
