#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/operations/commands.h"
#include "common/tls/certificates.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr Duration kAuthorityLife = 3650 * 24h;

struct JoinArguments {
  std::string executor;
  std::string life;
  std::string directory;
  std::string reason;
};

Outcome<ExitCode> MakeToken(Session& session, const JoinArguments& arguments) {
  json body = {{"executor_id", arguments.executor}};
  if (!arguments.life.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const Duration life, ParseDuration(arguments.life));
    body["expires_in_s"] = std::chrono::duration_cast<std::chrono::seconds>(life).count();
  }
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse made,
      session.Call({.method = "POST", .path = "/api/executors/join-tokens", .body = body}));
  const std::string once = "One-time token for " + arguments.executor + ", valid until " +
                           made.body.value("expires_at", "") + ". It is shown only once. ";
  const json address = made.body.value("link_address", json());
  if (address.is_string()) {
    session.Say(once + "Store it in the file join-token (mode 0600) on the new host, then start: " +
                "carillon-executor --data-dir DIR --set executor.id=" + arguments.executor +
                " --set link.members=" + address.get<std::string>() +
                " --set link.tls=mutual --set link.join_token_file=join-token");
  } else {
    session.Say(
        once +
        "Store it in a file (mode 0600) and set link.join_token_file on the executor to its "
        "path.");
  }
  // In table form only the plain token is printed, so that a shell can redirect the output to the
  // token's file.
  const std::string& form = session.flags().output;
  if (form.empty() || form == "table" || form == "wide") {
    session.host().out << made.body.value("join_token", "") << "\n";
  } else {
    static const View view{{}, "join_token"};
    session.Print().Object(made.body, view);
  }
  return ExitCode::kDone;
}

// Writes a new file. Never replaces a file, because certificates that the existing authority has
// signed may be in use.
Outcome<bool> WriteNew(const std::string& path, const std::string& text, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return UsageFailure("cannot create " + path + ", or it exists already");
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       fsync(file) == 0;
  close(file);
  if (!written) return Failure{.message = "cannot write " + path, .code = "unavailable"};
  return true;
}

Outcome<ExitCode> MakeAuthority(Session& session, const JoinArguments& arguments) {
  const WallTime now = session.host().clock.Wall();
  const auto authority = tls::Authority::Create("Carillon control link",
                                                {.from = now - 24h, .until = now + kAuthorityLife});
  std::error_code ignored;
  std::filesystem::create_directories(arguments.directory, ignored);
  CARILLON_TRY(WriteNew(arguments.directory + "/link-ca.key", authority.key(), 0600));
  CARILLON_TRY(WriteNew(arguments.directory + "/link-ca.pem", authority.certificate(), 0644));
  session.Say(
      "On every scheduler, set link.tls_ca_file to link-ca.pem and link.tls_ca_key_file to "
      "link-ca.key. Keep the key "
      "secret: whoever has it can act as any executor or scheduler.");
  session.host().out << authority.fingerprint() << "\n";
  return ExitCode::kDone;
}

}  // namespace

void AddJoinCommands(CLI::App& executor, Session& session) {
  const auto a = std::make_shared<JoinArguments>();
  CLI::App* token = executor.add_subcommand(
      "join-token", "Create a one-time token that lets a new executor join");
  token->add_option("executor", a->executor, "ID of the executor")->required();
  token->add_option("--expires-in", a->life, "Validity, e.g. 30m (default: 1h)");
  token->add_option("--reason", a->reason, "Reason, kept in the audit log");
  session.On(token, [&session, a] { return MakeToken(session, *a); });
  CLI::App* authority =
      executor.add_subcommand("authority", "Create the certificate authority of the control link");
  authority->add_option("directory", a->directory, "Directory for link-ca.pem and link-ca.key")
      ->required();
  session.On(authority, [&session, a] { return MakeAuthority(session, *a); });
}

}  // namespace carillon::cli
