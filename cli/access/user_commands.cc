#include <nlohmann/json.hpp>

#include "cli/access/commands.h"
#include "common/adapters/http/http_message.h"
#include "common/base/lower_case.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct UserArguments {
  std::string user;  // id or name
  std::string name;
  std::string role;
  std::string display_name;
  std::vector<std::string> shares;  // NAMESPACE or NAMESPACE:SELECTOR
  bool no_shares = false;
  std::string reason;
  bool enable = false;
  bool disable = false;
  bool password = false;
};

struct TokenArguments {
  std::string id;
  std::string name;
  std::string role;
  std::string expires_at;
  std::vector<std::string> scopes;
};

const View& UserView() {
  static const View view{{{"USER", "user_id"},
                          {"NAME", "name"},
                          {"DISPLAY NAME", "display_name"},
                          {"ROLE", "role"},
                          {"DISABLED", "disabled"}},
                         "user_id",
                         {{"SHARES", "shares"}}};
  return view;
}

const View& TokenView() {
  static const View view{{{"TOKEN", "token_id"},
                          {"NAME", "name"},
                          {"ROLE", "role"},
                          {"SCOPES", "scopes"},
                          {"PREFIX", "prefix"},
                          {"USER", "user_id"},
                          {"EXPIRES", "expires_at"},
                          {"LAST USED", "last_used_at"}},
                         "token_id"};
  return view;
}

// Finds a user by id or by name.
Outcome<ApiResponse> FindUser(Session& session, const std::string& user) {
  auto found = session.Call({.path = "/api/users/" + Escape(user)});
  if (found.ok() || found.error().exit != ExitCode::kNotFound) return found;
  CARILLON_ASSIGN_OR_RETURN(const auto id, UserNamed(session, user));
  return id ? session.Call({.path = "/api/users/" + Escape(*id)}) : found;
}

Outcome<ExitCode> GetUser(Session& session, const UserArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse user, FindUser(session, arguments.user));
  session.Print().Object(user.body, UserView());
  return ExitCode::kDone;
}

json SharesOf(const std::vector<std::string>& texts) {
  json shares = json::array();
  for (const std::string& text : texts) {
    const size_t colon = text.find(':');
    json& share = shares.emplace_back(json{{"namespace", text.substr(0, colon)}});
    if (colon != std::string::npos) share["selector"] = text.substr(colon + 1);
  }
  return shares;
}

Outcome<ExitCode> CreateUser(Session& session, const UserArguments& arguments) {
  json body = {{"name", arguments.name}};
  if (!arguments.role.empty()) body["role"] = arguments.role;
  if (!arguments.display_name.empty()) body["display_name"] = arguments.display_name;
  if (!arguments.shares.empty()) body["shares"] = SharesOf(arguments.shares);
  CARILLON_ASSIGN_OR_RETURN(body["password"],
                            ReadPassword(session, "Password of " + arguments.name + ": "));
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse user,
      session.Call({.method = "POST", .path = "/api/users", .body = std::move(body)}));
  session.Print().Object(user.body, UserView());
  return ExitCode::kDone;
}

Outcome<ExitCode> EditUser(Session& session, const UserArguments& arguments, bool named) {
  json body = json::object();
  if (!arguments.role.empty()) body["role"] = arguments.role;
  if (named) body["display_name"] = arguments.display_name;
  if (arguments.enable || arguments.disable) body["disabled"] = arguments.disable;
  if (!arguments.shares.empty() || arguments.no_shares) body["shares"] = SharesOf(arguments.shares);
  if (arguments.password) {
    CARILLON_ASSIGN_OR_RETURN(body["password"],
                              ReadPassword(session, "New password of " + arguments.user + ": "));
  }
  if (body.empty()) {
    return UsageFailure(
        "nothing to change: use --role, --display-name, --share, --no-shares, --enable, --disable "
        "or "
        "--password");
  }
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse before, FindUser(session, arguments.user));
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse user,
      session.Call({.method = "PATCH",
                    .path = "/api/users/" + Escape(before.body.value("user_id", "")),
                    .body = std::move(body),
                    .if_match = before.etag}));
  session.Print().Object(user.body, UserView());
  return ExitCode::kDone;
}

Outcome<ExitCode> DeleteUser(Session& session, const UserArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse before, FindUser(session, arguments.user));
  CARILLON_ASSIGN_OR_RETURN(const bool go,
                            session.Confirm("Delete user " + before.body.value("name", "") +
                                            " and their tokens? Their jobs stay."));
  if (!go) return ExitCode::kFailure;
  CARILLON_TRY(session.Call({.method = "DELETE",
                             .path = "/api/users/" + Escape(before.body.value("user_id", "")),
                             .if_match = before.etag}));
  session.Say("Deleted user " + before.body.value("name", "") + ".");
  return ExitCode::kDone;
}

// Prints the complete link to standard output, for scripts.
Outcome<ExitCode> MakeSetupLink(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse made,
      session.Call({.method = "POST", .path = "/api/auth/setup-link", .body = json::object()}));
  CARILLON_ASSIGN_OR_RETURN(const ApiClient* client, session.Client());
  json shown = made.body;
  // A server behind a proxy knows the address that browsers use.
  if (!shown.contains("url")) {
    shown["url"] = client->target().urls.front() + made.body.value("path", "");
  }
  static const View view{{}, "url"};
  session.Print().Object(shown, view);
  return ExitCode::kDone;
}

Outcome<json> ExpiryOf(const std::string& text, WallTime now) {
  if (ParseRfc3339(text).ok()) return json(text);
  const auto life = ParseDuration(text);
  if (life.ok() && *life > Duration::zero()) return json(FormatRfc3339(now + *life));
  return UsageFailure("--expires: invalid value '" + text +
                      "' (use a duration, e.g. 90d, at most 36500d, or a time, e.g. "
                      "2030-03-01T02:00:00Z)");
}

Outcome<ExitCode> CreateToken(Session& session, const TokenArguments& arguments) {
  json body = {{"name", arguments.name}};
  if (!arguments.role.empty()) body["role"] = arguments.role;
  if (!arguments.scopes.empty()) body["scopes"] = arguments.scopes;
  if (!arguments.expires_at.empty()) {
    CARILLON_ASSIGN_OR_RETURN(body["expires_at"],
                              ExpiryOf(arguments.expires_at, session.host().clock.Wall()));
  }
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse token,
      session.Call({.method = "POST", .path = "/api/tokens", .body = std::move(body)}));
  // With -q the token itself is printed, not the token's id, because the token cannot be
  // read later.
  static const View view{{}, "token"};
  session.Print().Object(token.body, view);
  session.Say("Store the token now: it is not shown again.");
  return ExitCode::kDone;
}

Outcome<ExitCode> DeleteToken(Session& session, const TokenArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const bool go, session.Confirm("Delete token " + arguments.id + "?"));
  if (!go) return ExitCode::kFailure;
  CARILLON_TRY(session.Call({.method = "DELETE", .path = "/api/tokens/" + Escape(arguments.id)}));
  session.Say("Deleted token " + arguments.id + ".");
  return ExitCode::kDone;
}

}  // namespace

Outcome<std::optional<std::string>> UserNamed(Session& session, std::string_view name) {
  const std::string wanted = LowerCase(name);
  std::optional<std::string> id;
  CARILLON_TRY(session.ReadPages({.path = "/api/users"}, 0, [&](const json& page) {
    for (const json& item : page["items"]) {
      if (LowerCase(item.value("name", "")) == wanted) id = item.value("user_id", "");
    }
  }));
  return id;
}

void AddUserCommands(CLI::App& app, Session& session) {
  CLI::App* user = app.add_subcommand("user", "Manage users, and your own password");
  user->require_subcommand(1);
  const auto a = std::make_shared<UserArguments>();  // shared by the subcommands' callbacks
  const auto limit = std::make_shared<std::optional<int64_t>>();
  CLI::App* list = user->add_subcommand("list", "List users");
  const auto sort = std::make_shared<std::string>();
  list->add_option("--sort", *sort, "Sort by name (default); --sort=-name reverses the order");
  AddLimit(list, *limit, "users");
  session.On(list, [&session, sort, limit] {
    ApiRequest request{.path = "/api/users"};
    if (!sort->empty()) request.query.emplace_back("sort", *sort);
    return session.List(request, {.view = UserView(), .limit = *limit});
  });
  CLI::App* create = user->add_subcommand(
      "create", "Create a user; prompts for the password or reads it from standard input");
  create->add_option("name", a->name, "User name")->required();
  CLI::App* get = user->add_subcommand("get", "Show a user");
  CLI::App* edit = user->add_subcommand("edit", "Edit a user");
  CLI::App* remove = user->add_subcommand("delete", "Delete a user");
  for (CLI::App* verb : {get, edit, remove}) {
    verb->add_option("user", a->user, "User ID or name")->required();
  }
  CLI::Option* named = nullptr;
  for (CLI::App* verb : {create, edit}) {
    verb->add_option("--role", a->role, "Role: admin, user or read_only")->check(NotEmpty);
    named = verb->add_option("--display-name", a->display_name, "Display name");
  }
  CLI::Option* share = nullptr;
  for (CLI::App* verb : {create, edit}) {
    share = verb->add_option("--share", a->shares,
                             "Share jobs of other owners, NAMESPACE[:SELECTOR]; repeatable, "
                             "replaces all earlier shares")
                ->allow_extra_args(false)
                ->check(NotEmpty);
  }
  edit->add_flag("--no-shares", a->no_shares, "Remove all shares")->excludes(share);
  CLI::Option* disable =
      edit->add_flag("--disable", a->disable,
                     "Disable the user: ends their sessions, and their tokens stop working");
  edit->add_flag("--enable", a->enable, "Enable a disabled user")->excludes(disable);
  edit->add_flag("--password", a->password, "Set a new password, from a prompt or standard input");
  edit->add_option("--reason", a->reason, "Reason, kept in the audit log");
  session.On(create, [&session, a] { return CreateUser(session, *a); });
  session.On(get, [&session, a] { return GetUser(session, *a); });
  session.On(edit, [&session, a, named] { return EditUser(session, *a, named->count() > 0); });
  session.On(remove, [&session, a] { return DeleteUser(session, *a); });
  session.On(
      user->add_subcommand("setup-link", "Print a new link to set up the first administrator"),
      [&session] { return MakeSetupLink(session); });
  AddPasswordCommand(*user, session);
}

void AddTokenCommands(CLI::App& app, Session& session) {
  CLI::App* token = app.add_subcommand("token", "Manage API tokens");
  token->require_subcommand(1);
  const auto a = std::make_shared<TokenArguments>();  // shared by the subcommands' callbacks
  const auto limit = std::make_shared<std::optional<int64_t>>();
  CLI::App* list = token->add_subcommand("list", "List your tokens; administrators see all");
  const auto user_id = std::make_shared<std::string>();
  list->add_option("--user-id,--user", *user_id, "Only tokens of this user ID");
  AddLimit(list, *limit, "tokens");
  session.On(list, [&session, user_id, limit] {
    ApiRequest request{.path = "/api/tokens"};
    if (!user_id->empty()) request.query.emplace_back("user_id", *user_id);
    return session.List(request, {.view = TokenView(), .limit = *limit});
  });
  CLI::App* create = token->add_subcommand("create", "Create a token; it is shown only once");
  create->add_option("name", a->name, "Name of the token, e.g. its purpose")->required();
  create->add_option("--role", a->role, "Role: admin, user or read_only (default: your own)")
      ->check(NotEmpty);
  create
      ->add_option("--scope", a->scopes,
                   "Restrict the token to this permission, e.g. jobs:run; repeatable")
      ->check(NotEmpty)
      ->allow_extra_args(false);
  create
      ->add_option("--expires", a->expires_at,
                   "Expiry: a duration, e.g. 90d, or a time, e.g. 2030-03-01T02:00:00Z")
      ->check(NotEmpty);
  session.On(create, [&session, a] { return CreateToken(session, *a); });
  CLI::App* remove = token->add_subcommand("delete", "Delete a token");
  remove->add_option("token", a->id, "Token ID")->required();
  session.On(remove, [&session, a] { return DeleteToken(session, *a); });
}

}  // namespace carillon::cli
