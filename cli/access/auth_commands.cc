#include <nlohmann/json.hpp>

#include <istream>
#include <ostream>

#include "cli/access/commands.h"
#include "cli/client/sign_in.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

// Returns a client without a token. A token of a data directory must not be sent with a login.
Outcome<std::unique_ptr<ApiClient>> ClientWithoutToken(Session& session) {
  Host& host = session.host();
  CARILLON_ASSIGN_OR_RETURN(Target target, FindTarget(session.flags().target, host.environment));
  target.token.clear();
  auto transport = host.transport(target.ca_file);
  return std::make_unique<ApiClient>(std::move(target), std::move(transport), host.seed);
}

Outcome<ExitCode> LogIn(Session& session, std::string name) {
  Host& host = session.host();
  CARILLON_ASSIGN_OR_RETURN(const auto client, ClientWithoutToken(session));
  if (name.empty()) {
    if (!host.in_is_tty)
      return UsageFailure("there is no terminal to enter the name on; use --name");
    host.err << "Name: " << std::flush;
    std::getline(host.in, name);
  }
  CARILLON_ASSIGN_OR_RETURN(const std::string password, ReadPassword(session, "Password: "));
  CARILLON_ASSIGN_OR_RETURN(SessionFile file, SessionFile::Open(host.environment));
  CARILLON_ASSIGN_OR_RETURN(
      const StoredSession made,
      SignIn(*client, file, {.name = name, .password = password}, host.clock.Wall()));
  session.Say("Signed in to " + client->target().urls.front() + " as " + made.name + ".");
  return ExitCode::kDone;
}

Outcome<ExitCode> LogOut(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const auto client, ClientWithoutToken(session));
  CARILLON_ASSIGN_OR_RETURN(SessionFile file, SessionFile::Open(session.host().environment));
  CARILLON_ASSIGN_OR_RETURN(const bool was, SignOut(*client, file));
  session.Say(was ? "Signed out." : "You were not signed in.");
  return ExitCode::kDone;
}

// Changes the password of the signed-in user. API tokens are ignored, because they have
// no password.
Outcome<ExitCode> ChangeOwnPassword(Session& session) {
  Host& host = session.host();
  CARILLON_ASSIGN_OR_RETURN(const auto client, ClientWithoutToken(session));
  PasswordChange change;
  CARILLON_ASSIGN_OR_RETURN(change.before, ReadPassword(session, "Current password: "));
  CARILLON_ASSIGN_OR_RETURN(change.after, ReadPassword(session, "New password: "));
  if (host.in_is_tty) {
    CARILLON_ASSIGN_OR_RETURN(const std::string again,
                              ReadPassword(session, "New password, again: "));
    if (again != change.after) {
      return UsageFailure("the new passwords do not match; nothing was changed");
    }
  }
  CARILLON_ASSIGN_OR_RETURN(SessionFile file, SessionFile::Open(host.environment));
  CARILLON_ASSIGN_OR_RETURN(const StoredSession made,
                            ChangePassword(*client, file, change, host.clock.Wall()));
  session.Say("Changed the password of " + made.name + ". All other sessions have ended.");
  return ExitCode::kDone;
}

Outcome<ExitCode> ShowWhoIAm(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse me, session.Call({.path = "/api/auth/me"}));
  static const View view{{}, "name"};
  session.Print().Object(me.body, view);
  return ExitCode::kDone;
}

}  // namespace

Outcome<std::string> ReadPassword(Session& session, const std::string& prompt) {
  Host& host = session.host();
  std::string password;
  if (host.in_is_tty) {
    CARILLON_ASSIGN_OR_RETURN(password, host.read_password(prompt));
  } else {
    std::getline(host.in, password);
  }
  if (!password.empty() && password.back() == '\r') password.pop_back();
  if (password.empty())
    return UsageFailure("no password: enter one, or pass it as a line of standard input");
  return password;
}

void AddPasswordCommand(CLI::App& user, Session& session) {
  CLI::App* password =
      user.add_subcommand("password",
                          "Change your own password; prompts for the current and the new "
                          "password, or reads them from standard input");
  session.On(password, [&session] { return ChangeOwnPassword(session); });
}

void AddAuthCommands(CLI::App& app, Session& session) {
  const auto name = std::make_shared<std::string>();
  CLI::App* login = app.add_subcommand(
      "login", "Sign in; prompts for the password or reads it from standard input");
  login->add_option("--name", *name, "User name")->check(NotEmpty);
  session.On(login, [&session, name] { return LogIn(session, *name); });
  session.On(app.add_subcommand("logout", "Sign out"), [&session] { return LogOut(session); });
  session.On(app.add_subcommand("whoami", "Show the current user"),
             [&session] { return ShowWhoIAm(session); });
}

}  // namespace carillon::cli
