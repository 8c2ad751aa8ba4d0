#include <nlohmann/json.hpp>

#include "cli/operations/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct BackupFlags {
  std::string file;
  std::string config_file;
  std::vector<std::string> settings;
  bool replace = false;
};

Result<BackupArguments> Collect(Session& session, const BackupFlags& flags) {
  BackupArguments arguments{
      .file = flags.file, .config_file = flags.config_file, .replace = flags.replace};
  const std::string& data_dir = session.flags().target.data_dir;
  if (!data_dir.empty()) arguments.overrides.push_back({"data_dir", data_dir, "--data-dir"});
  CARILLON_ASSIGN_OR_RETURN(const auto settings, ParsePairs(flags.settings));
  for (const auto& [name, value] : settings) arguments.overrides.push_back({name, value, "--set"});
  return arguments;
}

void PrintBackup(Session& session, const BackupFlags& flags, const BackupReply& reply) {
  session.Print().Object({{"file", flags.file},
                          {"store_id", reply.store_id},
                          {"schema_version", reply.schema_version},
                          {"taken", FormatRfc3339(reply.taken)},
                          {"tables", reply.tables},
                          {"rows", reply.rows},
                          {"bytes", reply.bytes}},
                         {{}, "file"});
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Outcome<ExitCode> Create(Session& session, const BackupFlags& flags) {
  CARILLON_ASSIGN_OR_RETURN(const BackupArguments arguments, Collect(session, flags));
  CARILLON_ASSIGN_OR_RETURN(const BackupReply made, session.host().create_backup(arguments));
  PrintBackup(session, flags, made);
  session.Say("Also keep, separately from this file: " + Listed(made.keys) + ".");
  return ExitCode::kDone;
}

Outcome<ExitCode> Restore(Session& session, const BackupFlags& flags) {
  CARILLON_ASSIGN_OR_RETURN(const BackupArguments arguments, Collect(session, flags));
  if (flags.replace) {
    CARILLON_ASSIGN_OR_RETURN(const std::string target, session.host().restore_target(arguments));
    CARILLON_ASSIGN_OR_RETURN(const bool go, session.Confirm("Drop everything in " + target +
                                                             " and restore " + flags.file + "?"));
    if (!go) return ExitCode::kFailure;
  }
  CARILLON_ASSIGN_OR_RETURN(const BackupReply restored, session.host().restore_backup(arguments));
  PrintBackup(session, flags, restored);
  session.Say("Also restore, from the same time: " + Listed(restored.keys) + ".");
  session.Say(
      restored.data_dir.empty()
          ? "Then start the schedulers and run `carillon system accept-store`. Until then the "
            "restored store is held: nothing starts."
          : "Then start the server: carillon standalone --data-dir " + restored.data_dir);
  return ExitCode::kDone;
}

void AddBackupFlags(CLI::App* verb, BackupFlags& flags) {
  verb->add_option("file", flags.file, "Backup file")->required()->check(NotEmpty);
  verb->add_option("--config", flags.config_file,
                   "Configuration file of the schedulers, which names the store (CARILLON_CONFIG)")
      ->envname("CARILLON_CONFIG")
      ->check(NotEmpty);
  verb->add_option("--set", flags.settings, "Override a setting, name=value; repeatable")
      ->allow_extra_args(false);
}

}  // namespace

void AddBackupCommands(CLI::App& app, Session& session) {
  const auto a = std::make_shared<BackupFlags>();  // shared by the subcommands' callbacks
  CLI::App* backup = app.add_subcommand("backup", "Back up and restore the whole store");
  backup->require_subcommand(1);
  CLI::App* create =
      backup->add_subcommand("create", "Back up the store to a file; servers may be running");
  CLI::App* restore = backup->add_subcommand(
      "restore", "Restore a backup into an empty database; no server may be running");
  for (CLI::App* verb : {create, restore}) AddBackupFlags(verb, *a);
  restore->add_flag("--replace", a->replace,
                    "Drop everything in the database first (asks for confirmation)");
  session.On(create, [&session, a] { return Create(session, *a); });
  session.On(restore, [&session, a] { return Restore(session, *a); });
}

}  // namespace carillon::cli
