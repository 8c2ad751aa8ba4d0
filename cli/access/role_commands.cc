#include <nlohmann/json.hpp>

#include "cli/access/commands.h"

namespace carillon::cli {

void AddRoleCommands(CLI::App& app, Session& session) {
  CLI::App* verbs = app.add_subcommand("role", "Show roles");
  verbs->require_subcommand(1);
  CLI::App* list = verbs->add_subcommand("list", "List roles and their permissions");
  static const View view{{{"ROLE", "role"}, {"PERMISSIONS", "permissions"}}, "role"};
  session.On(list, [&session] { return session.List({.path = "/api/roles"}, {.view = view}); });
}

}  // namespace carillon::cli
