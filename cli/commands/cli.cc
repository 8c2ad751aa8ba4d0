#include "cli/commands/cli.h"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <utility>

#include "cli/access/commands.h"
#include "cli/commands/help_texts.h"
#include "cli/crontab/commands.h"
#include "cli/events/commands.h"
#include "cli/jobs/commands.h"
#include "cli/operations/commands.h"
#include "cli/runs/commands.h"
#include "cli/workflows/commands.h"

namespace carillon::cli {
namespace {

constexpr size_t kTypingSlips = 2;
// A word with more letters than this may have one typing error more.
constexpr size_t kLongWord = 6;

void AddGlobalFlags(CLI::App& app, GlobalFlags& flags) {
  app.add_option("--addr", flags.target.addresses,
                 "Server addresses, comma-separated, tried in order (CARILLON_ADDR)")
      ->check(NotEmpty);
  app.add_option("--token-file", flags.target.token_file,
                 "File with the bearer token (variable CARILLON_TOKEN_FILE; the variable "
                 "CARILLON_TOKEN contains the token itself)")
      ->check(NotEmpty);
  app.add_option("--ca-file", flags.target.ca_file,
                 "CA certificate (PEM) for HTTPS servers (CARILLON_CA_FILE; default: the system's)")
      ->check(NotEmpty);
  app.add_option("--data-dir", flags.target.data_dir,
                 "Data directory of a standalone server on this machine")
      ->check(NotEmpty);
  app.add_option("--context", flags.target.context,
                 "Saved server to use, see `carillon context` (CARILLON_CONTEXT)")
      ->check(NotEmpty);
  app.add_option("-o,--output", flags.output,
                 "Output format: table, wide, json, jsonl, yaml or name");
  app.add_option("--time", flags.time, "Times in tables: utc, local or relative")
      ->check(CLI::IsMember({"utc", "local", "relative"}));
  app.add_flag("-q,--quiet", flags.quiet, "Print IDs only, and no messages except errors");
  app.add_flag("-y,--yes", flags.yes, "Skip confirmation");
}

// Accepts the global flags after any command. Appends examples and the global flags to the help of
// each command.
void FallThrough(CLI::App& app, const std::string& path, const std::string& global_help) {
  for (CLI::App* verb : app.get_subcommands({})) {
    const std::string own = path + (path.empty() ? "" : " ") + verb->get_name();
    verb->fallthrough();
    verb->footer(ExamplesOf(own) + global_help);
    FallThrough(*verb, own, global_help);
  }
}

std::string GlobalHelp(const CLI::App& app) {
  const auto options = app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->check_name("--help") &&
           !option->check_name("--version");
  });
  return CLI::Formatter().make_group("Global flags", false, options);
}

// Returns the edit distance: the number of letters to insert, leave out or replace.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

const CLI::App& ChosenVerb(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

// Returns the long flag that `typed` most likely means: one of the chosen command, or a global one.
// Empty if no flag is similar.
std::string NearestFlag(const CLI::App& app, const std::string& typed) {
  const std::string word = typed.substr(0, typed.find('='));
  if (!word.starts_with("--") || word.size() == 2) return {};
  size_t least = (word.size() > kLongWord + 2 ? kTypingSlips + 1 : kTypingSlips) + 1;
  std::string nearest;
  for (const CLI::App* known : {&ChosenVerb(app), &app}) {
    for (const CLI::Option* option : known->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const size_t distance = Distance(word, "--" + name);
        if (distance < least) nearest = "--" + name;
        least = std::min(least, distance);
      }
    }
  }
  return nearest;
}

// True if the shell has split an unquoted cron expression. Only its first field was then taken as
// the expression.
bool IsSplitCron(const CLI::App& verb, const std::vector<std::string>& words) {
  const bool flags = std::all_of(words.begin(), words.end(),
                                 [](const auto& word) { return word.starts_with('-'); });
  if (flags) return false;
  for (const char* name : {"expression", "--cron"}) {
    const CLI::Option* option = verb.get_option_no_throw(name);
    if (option == nullptr || option->count() == 0) continue;
    if (option->results().back().find(' ') == std::string::npos) return true;
  }
  return false;
}

// Returns the message about unexpected words. Empty if there are no such words, or if the error has
// another cause. An unknown flag is reported even if the word after it was taken as an argument.
std::string Unexpected(const CLI::App& app, const CLI::ParseError& error) {
  const auto words = app.remaining(true);
  const bool a_verb = ChosenVerb(app).get_subcommands([](const CLI::App*) { return true; }).empty();
  const bool flag = std::any_of(words.begin(), words.end(),
                                [](const auto& word) { return word.starts_with("--"); });
  const bool extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (words.empty() || (!extras && !(a_verb && flag))) return {};
  std::string said = "The following argument";
  said += words.size() > 1 ? "s were not expected:" : " was not expected:";
  std::string nearest;
  for (const std::string& word : words) {
    said += " " + word;
    if (nearest.empty()) nearest = NearestFlag(app, word);
  }
  if (!nearest.empty()) said += "; did you mean '" + nearest + "'?";
  if (IsSplitCron(ChosenVerb(app), words)) {
    said += "\nA cron expression is one argument: quote it, as in '0 9 * * MON'.";
  }
  return said;
}

// Returns the message: "unknown command 'job creat'; did you mean 'job create'?"
std::string NoVerb(const CLI::App& at, const std::string& word) {
  const std::string path = at.get_parent() == nullptr ? "" : at.get_name() + " ";
  std::string said = "unknown command '" + path + word + "'";
  const auto verbs = at.get_subcommands([](const CLI::App*) { return true; });
  const auto nearest = std::min_element(verbs.begin(), verbs.end(), [&](auto* a, auto* b) {
    return Distance(word, a->get_name()) < Distance(word, b->get_name());
  });
  if (nearest != verbs.end() && Distance(word, (*nearest)->get_name()) <= kTypingSlips) {
    said += "; did you mean '" + path + (*nearest)->get_name() + "'?";
  }
  return said;
}

// Returns the message about an unknown command; empty if no command was expected at that place.
std::string UnknownVerb(const CLI::App& app) {
  const CLI::App& at = ChosenVerb(app);
  const auto words = app.remaining(true);
  // A word that follows a flag may be its value, so it is not reported as a command.
  if (words.empty() || words.front().starts_with('-')) return {};
  if (at.get_subcommands([](const CLI::App*) { return true; }).empty()) return {};
  return NoVerb(at, words.front());
}

// Adds the command `help`: "help job run" prints the same as "job run --help".
void AddHelpCommand(CLI::App& app, Session& session) {
  const auto words = std::make_shared<std::vector<std::string>>();  // shared with the callback
  CLI::App* help = app.add_subcommand("help", "Show help for a command");
  help->add_option("verb", *words, "The command, e.g. job run");
  session.On(help, [&app, &session, words]() -> Outcome<ExitCode> {
    const CLI::App* at = &app;
    std::string path = app.get_name();
    for (const std::string& word : *words) {
      const auto known =
          at->get_subcommands([&word](const CLI::App* verb) { return verb->get_name() == word; });
      if (known.empty()) return UsageFailure(NoVerb(*at, word));
      at = known.front();
      path += " " + word;
    }
    session.host().out << at->get_formatter()->make_help(at, path, CLI::AppFormatMode::Normal);
    return ExitCode::kDone;
  });
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments, Host& host) {
  CLI::App app("Carillon: a distributed job scheduler", "carillon");
  Session session(host);
  app.require_subcommand(1);
  app.set_version_flag("--version", "carillon " + host.version, "Print the version");
  AddGlobalFlags(app, session.flags());
  // The order matters: the help shows the groups in the order in which their first commands
  // are added.
  AddJobCommands(app, session);
  AddWorkflowCommands(app, session);
  AddScheduleCommands(app, session);
  AddGroupCommands(app, session);
  AddCalendarCommands(app, session);
  AddRunCommands(app, session);
  AddOutputCommand(app, session);
  AddCheckpointCommands(app, session);
  AddEventCommands(app, session);
  AddBulkCommands(app, session);
  AddBackfillCommands(app, session);
  AddFileCommands(app, session);
  AddExportCommand(app, session);
  AddExecutorCommands(app, session);
  AddHandlerCommands(app, session);
  AddBackupCommands(app, session);
  AddImportCommands(app, session);
  AddAuthCommands(app, session);
  AddContextCommands(app, session);
  AddNamespaceCommands(app, session);
  AddRoleCommands(app, session);
  AddUserCommands(app, session);
  AddTokenCommands(app, session);
  AddSecretCommands(app, session);
  AddDeadLetterCommands(app, session);
  AddDeliveryCommands(app, session);
  AddAuditCommand(app, session);
  AddSystemCommands(app, session);
  AddServerCommands(app, session);
  AddHelpCommand(app, session);
  GroupCommands(app);
  app.footer(ExamplesOf(""));
  FallThrough(app, "", GlobalHelp(app));
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& e) {
    const bool asked = e.get_exit_code() == 0;  // for --help or --version
    std::string unknown = asked ? "" : UnknownVerb(app);
    if (unknown.empty() && !asked) unknown = Unexpected(app, e);
    if (!unknown.empty()) {
      host.err << unknown << "\nRun with --help for more information.\n";
      return static_cast<int>(ExitCode::kUsage);
    }
    app.exit(e, host.out, host.err);
    return static_cast<int>(asked ? ExitCode::kDone : ExitCode::kUsage);
  }
  host.out.flush();
  if (!host.out) {
    host.err << "carillon: cannot write to standard output\n";
    return static_cast<int>(ExitCode::kFailure);
  }
  return static_cast<int>(session.exit());
}

}  // namespace carillon::cli
