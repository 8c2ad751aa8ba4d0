#include <nlohmann/json.hpp>

#include "cli/jobs/commands.h"

namespace carillon::cli {

void AddNamespaceCommands(CLI::App& app, Session& session) {
  CLI::App* verbs = app.add_subcommand("namespace", "Show namespaces");
  verbs->require_subcommand(1);
  const auto limit = std::make_shared<std::optional<int64_t>>();  // shared with the callback
  CLI::App* list = verbs->add_subcommand("list", "List namespaces that contain jobs");
  AddLimit(list, *limit, "namespaces");
  static const View view{{{"NAMESPACE", "namespace"}}, "namespace"};
  session.On(list, [&session, limit] {
    return session.List({.path = "/api/namespaces"}, {.view = view, .limit = *limit});
  });
}

}  // namespace carillon::cli
