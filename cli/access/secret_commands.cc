#include <istream>
#include <nlohmann/json.hpp>

#include "cli/access/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct SecretArguments {
  std::string name;
  std::string value_file;
  std::string description;
  std::string reason;
  bool shared = false;
  bool not_shared = false;
};

const View& SecretView() {
  static const View view{{{"NAME", "name"},
                          {"SHARED", "shared"},
                          {"OWNER", "user_id"},
                          {"UPDATED", "update_time"},
                          {"DESCRIPTION", "description"}},
                         "name",
                         {{"KEY", "key_id"}}};
  return view;
}

std::string SecretPath(const std::string& name) { return "/api/secrets/" + Escape(name); }

// Reads the value from a terminal, a file or standard input. The value cannot be an argument,
// because the list of processes and the history of the shell show arguments. Removes a final
// newline, because editors and `echo` add one.
Outcome<std::string> ReadValue(Session& session, const SecretArguments& arguments) {
  Host& host = session.host();
  std::string value;
  if (arguments.value_file.empty() && host.in_is_tty) {
    CARILLON_ASSIGN_OR_RETURN(value, host.read_password("Value of " + arguments.name + ": "));
  } else {
    const std::string file = arguments.value_file.empty() ? "-" : arguments.value_file;
    CARILLON_ASSIGN_OR_RETURN(value, ReadInput(host, file));
  }
  if (!value.empty() && value.back() == '\n') value.pop_back();
  if (!value.empty() && value.back() == '\r') value.pop_back();
  if (value.empty())
    return UsageFailure("a secret needs a value: use --value-file or standard input");
  return value;
}

json BodyOf(const SecretArguments& arguments, bool described) {
  json body = json::object();
  if (described) body["description"] = arguments.description;
  if (arguments.shared || arguments.not_shared) body["shared"] = arguments.shared;
  return body;
}

Outcome<ExitCode> Update(Session& session, const SecretArguments& arguments, json body,
                         const std::string& etag) {
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse secret,
                            session.Call({.method = "PUT",
                                          .path = SecretPath(arguments.name),
                                          .body = std::move(body),
                                          .if_match = etag}));
  session.Print().Object(secret.body, SecretView());
  return ExitCode::kDone;
}

Outcome<ExitCode> SetSecret(Session& session, const SecretArguments& arguments, bool described) {
  json body = BodyOf(arguments, described);
  CARILLON_ASSIGN_OR_RETURN(body["value"], ReadValue(session, arguments));
  const auto before = session.Call({.path = SecretPath(arguments.name)});
  if (before.ok()) return Update(session, arguments, std::move(body), before->etag);
  if (before.error().exit != ExitCode::kNotFound) return before.error();
  body["name"] = arguments.name;
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse made,
      session.Call({.method = "POST", .path = "/api/secrets", .body = std::move(body)}));
  session.Print().Object(made.body, SecretView());
  return ExitCode::kDone;
}

Outcome<ExitCode> EditSecret(Session& session, const SecretArguments& arguments, bool described) {
  json body = BodyOf(arguments, described);
  if (body.empty()) {
    return UsageFailure(
        "nothing to change: use --description, --shared or --not-shared; `carillon secret set` "
        "changes the value");
  }
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse before,
                            session.Call({.path = SecretPath(arguments.name)}));
  return Update(session, arguments, std::move(body), before.etag);
}

Outcome<ExitCode> ShowSecret(Session& session, const SecretArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse secret,
                            session.Call({.path = SecretPath(arguments.name)}));
  session.Print().Object(secret.body, SecretView());
  return ExitCode::kDone;
}

Outcome<ExitCode> DeleteSecret(Session& session, const SecretArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse before,
                            session.Call({.path = SecretPath(arguments.name)}));
  CARILLON_ASSIGN_OR_RETURN(
      const bool go,
      session.Confirm("Delete secret " + arguments.name + "? Runs of jobs that use it will fail."));
  if (!go) return ExitCode::kFailure;
  CARILLON_TRY(session.Call(
      {.method = "DELETE", .path = SecretPath(arguments.name), .if_match = before.etag}));
  session.Say("Deleted secret " + arguments.name + ".");
  return ExitCode::kDone;
}

// Re-encrypts all secrets. This takes several requests, because the server handles a bounded number
// of secrets per request.
Outcome<ExitCode> RewrapSecrets(Session& session) {
  json total = {{"key_id", ""}, {"rewrapped", 0}, {"unreadable", json::array()}};
  json after = nullptr;
  do {
    const json body = after.is_null() ? json::object() : json{{"after", after}};
    CARILLON_ASSIGN_OR_RETURN(
        const ApiResponse done,
        session.Call({.method = "POST", .path = "/api/secrets/rewrap", .body = body}));
    total["key_id"] = done.body.value("key_id", "");
    total["rewrapped"] = total["rewrapped"].get<int64_t>() + done.body.value("rewrapped", 0);
    for (const json& name : done.body.value("unreadable", json::array())) {
      total["unreadable"].push_back(name);
    }
    after = done.body.value("next_after", json(nullptr));
  } while (after.is_string());
  static const View view{{}, "key_id"};
  session.Print().Object(total, view);
  if (total["unreadable"].empty()) return ExitCode::kDone;
  session.Say(
      "Some secrets could not be re-encrypted: the key file no longer has the keys that encrypt "
      "them. Put those keys back and retry.");
  return ExitCode::kFailure;
}

}  // namespace

void AddSecretCommands(CLI::App& app, Session& session) {
  CLI::App* secret = app.add_subcommand("secret", "Manage secrets for jobs");
  secret->require_subcommand(1);
  const auto a = std::make_shared<SecretArguments>();  // shared by the subcommands' callbacks
  const auto limit = std::make_shared<std::optional<int64_t>>();
  CLI::App* list = secret->add_subcommand("list", "List secrets, without their values");
  AddLimit(list, *limit, "secrets");
  session.On(list, [&session, limit] {
    return session.List({.path = "/api/secrets"}, {.view = SecretView(), .limit = *limit});
  });
  CLI::App* get = secret->add_subcommand("get", "Show a secret, without its value");
  CLI::App* set = secret->add_subcommand(
      "set", "Create a secret or change its value, from a prompt, a file or standard input");
  CLI::App* edit = secret->add_subcommand("edit", "Edit a secret without changing its value");
  CLI::App* remove = secret->add_subcommand("delete", "Delete a secret");
  for (CLI::App* verb : {get, set, edit, remove}) {
    verb->add_option("name", a->name, "Name of the secret, as in {{secrets.NAME}}")->required();
  }
  set->add_option("--value-file", a->value_file,
                  "File with the value, - for standard input; a trailing newline is removed")
      ->check(NotEmpty);
  for (CLI::App* verb : {set, edit}) {
    CLI::Option* described =
        verb->add_option("--description", a->description, "Description; it is not secret");
    CLI::Option* shared = verb->add_flag("--shared", a->shared,
                                         "Available to all jobs; only administrators may set this");
    verb->add_flag("--not-shared", a->not_shared, "Available only to jobs of the secret's owner")
        ->excludes(shared);
    verb->add_option("--reason", a->reason, "Reason, kept in the audit log");
    const auto action = verb == set ? &SetSecret : &EditSecret;
    session.On(verb, [&session, a, described, action] {
      return action(session, *a, described->count() > 0);
    });
  }
  session.On(get, [&session, a] { return ShowSecret(session, *a); });
  session.On(remove, [&session, a] { return DeleteSecret(session, *a); });
  session.On(secret->add_subcommand("rewrap", "Re-encrypt all secrets with the current key"),
             [&session] { return RewrapSecrets(session); });
}

}  // namespace carillon::cli
