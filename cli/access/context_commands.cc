#include <filesystem>

#include "cli/access/commands.h"
#include "cli/client/context.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

const View& ContextView() {
  static const View view{{{"CURRENT", "current"},
                          {"NAME", "name"},
                          {"ADDRESSES", "addresses"},
                          {"TOKEN FILE", "token_file"}},
                         "name",
                         {{"CA FILE", "ca_file"}}};
  return view;
}

Outcome<ExitCode> ListContexts(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const Contexts contexts, ReadContexts(session.host().environment));
  json items = json::array();
  for (const auto& [name, context] : contexts.by_name) {
    items.push_back({{"name", name},
                     {"current", name == contexts.current},
                     {"addresses", context.addresses},
                     {"token_file", context.token_file.empty() ? json() : json(context.token_file)},
                     {"ca_file", context.ca_file.empty() ? json() : json(context.ca_file)}});
  }
  session.Print().List({{"items", std::move(items)}}, ContextView());
  return ExitCode::kDone;
}

// Makes the path absolute, because a context can be used from any directory.
std::string AbsoluteOf(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

// Saves the server that the flags select as context `name`.
Outcome<ExitCode> SetContext(Session& session, const std::string& name) {
  CARILLON_TRY(ValidateContextName(name));
  const TargetFlags& flags = session.flags().target;
  if (flags.addresses.empty())
    return UsageFailure("context set needs --addr, the address of the server");
  // Checks that the addresses are valid and that the CA file contains certificates.
  CARILLON_TRY(FindTarget({.addresses = flags.addresses, .ca_file = flags.ca_file}, {}));
  CARILLON_ASSIGN_OR_RETURN(Contexts contexts, ReadContexts(session.host().environment));
  contexts.by_name[name] = {.addresses = flags.addresses,
                            .token_file = AbsoluteOf(flags.token_file),
                            .ca_file = AbsoluteOf(flags.ca_file)};
  CARILLON_TRY(WriteContexts(session.host().environment, contexts));
  session.Say("Saved context " + name + ". Use it with: carillon context use " + name);
  return ExitCode::kDone;
}

Failure NoSuchContext(const std::string& name) {
  return {.exit = ExitCode::kNotFound,
          .message = "unknown context '" + name + "'. See `carillon context list`.",
          .code = "not_found"};
}

Outcome<ExitCode> UseContext(Session& session, const std::string& name) {
  CARILLON_ASSIGN_OR_RETURN(Contexts contexts, ReadContexts(session.host().environment));
  if (!name.empty() && !contexts.by_name.contains(name)) return NoSuchContext(name);
  contexts.current = name;
  CARILLON_TRY(WriteContexts(session.host().environment, contexts));
  session.Say(name.empty() ? "No default context is set." : "Using context " + name + ".");
  return ExitCode::kDone;
}

Outcome<ExitCode> DeleteContext(Session& session, const std::string& name) {
  CARILLON_ASSIGN_OR_RETURN(Contexts contexts, ReadContexts(session.host().environment));
  if (contexts.by_name.erase(name) == 0) return NoSuchContext(name);
  if (contexts.current == name) contexts.current.clear();
  CARILLON_TRY(WriteContexts(session.host().environment, contexts));
  return ExitCode::kDone;
}

}  // namespace

void AddContextCommands(CLI::App& app, Session& session) {
  CLI::App* context = app.add_subcommand("context", "Manage saved servers");
  context->require_subcommand(1);
  const auto name = std::make_shared<std::string>();  // shared by the subcommands' callbacks
  session.On(context->add_subcommand("list", "List contexts"),
             [&session] { return ListContexts(session); });
  CLI::App* set =
      context->add_subcommand("set", "Save --addr, --token-file and --ca-file under a name");
  set->add_option("name", *name, "Context name")->required();
  session.On(set, [&session, name] { return SetContext(session, *name); });
  CLI::App* use =
      context->add_subcommand("use", "Select the default context; without a name, clear it");
  use->add_option("name", *name, "Context name");
  session.On(use, [&session, name] { return UseContext(session, *name); });
  CLI::App* remove = context->add_subcommand("delete", "Delete a context");
  remove->add_option("name", *name, "Context name")->required();
  session.On(remove, [&session, name] { return DeleteContext(session, *name); });
}

}  // namespace carillon::cli
