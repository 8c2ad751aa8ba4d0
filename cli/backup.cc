#include "cli/backup.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "cli/standalone/standalone_options.h"
#include "common/adapters/mysql/backup/backup.h"
#include "common/adapters/mysql/mariadbd/private_mariadbd.h"
#include "common/adapters/system/system_clock.h"
#include "common/process/data_directory.h"
#include "common/store/store_options.h"

namespace carillon::cli {
namespace {

using config::Config;

constexpr std::array kStoreSettings = {"store.host", "store.port", "store.database", "store.user",
                                       "store.password_file"};

bool IsSet(const Config& config, std::string_view name) {
  return config.Get(name).origin != config::Origin::kDefault;
}

bool NamesStandalone(const Config& config) {
  return config.Get("data_dir").origin == config::Origin::kFlag;
}

// Returns the first setting that names a cluster's database; null if no such setting is set.
const char* StoreSetting(const Config& config) {
  const auto* const set = std::find_if(kStoreSettings.begin(), kStoreSettings.end(),
                                       [&](const char* name) { return IsSet(config, name); });
  return set == kStoreSettings.end() ? nullptr : *set;
}

// True if the store is that of a standalone server: the command line gives a data directory, or no
// setting names a database.
bool IsStandalone(const Config& config) {
  return NamesStandalone(config) || StoreSetting(config) == nullptr;
}

// Loads the settings. Settings that name two databases are rejected, because a restore into the
// wrong database would drop its data.
Result<Config> LoadOf(const BackupArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(Config config,
                            config::Load({.file = arguments.config_file,
                                          .environment = config::ProcessEnvironment(),
                                          .flags = arguments.overrides}));
  const char* const setting = StoreSetting(config);
  if (!NamesStandalone(config) || setting == nullptr) return config;
  return {ErrorCode::kInvalid,
          fmt::format(
              "{} {} names a standalone server, but {} ({}) names another database: use only one "
              "of them",
              config.Get("data_dir").place, config.Text("data_dir"), setting,
              config.Get(setting).place)};
}

std::string SearchPath() {
  const auto environment = config::ProcessEnvironment();
  const auto found = environment.find("PATH");
  return found == environment.end() ? "/usr/local/bin:/usr/bin:/bin" : found->second;
}

// Lists the files and variables with the keys that a restored store needs but does not contain.
std::vector<std::string> KeysOf(const Config& config, const std::string& data_dir) {
  std::vector<std::string> keys;
  const std::string& file = config.Text("secrets.key_file");
  if (config::ProcessEnvironment().contains("CARILLON_SECRETS_KEY")) {
    keys.emplace_back("the value of CARILLON_SECRETS_KEY");
  } else if (!file.empty()) {
    keys.push_back(file);
  } else if (data_dir.empty()) {
    keys.emplace_back("the secrets.key_file of the schedulers");
  } else {
    keys.push_back(data_dir + "/secrets.key");
  }
  if (!data_dir.empty()) keys.push_back(data_dir + "/admin.token");
  return keys;
}

BackupReply ReplyOf(const mysql::BackupFile& file, const Config& config,
                    const std::string& data_dir) {
  return {.store_id = file.head.store_id,
          .schema_version = file.head.schema,
          .taken = file.head.taken,
          .tables = static_cast<int64_t>(file.rows.size()),
          .rows = std::accumulate(file.rows.begin(), file.rows.end(), int64_t{0},
                                  [](int64_t sum, const auto& one) { return sum + one.second; }),
          .bytes = file.bytes,
          .data_dir = data_dir,
          .keys = KeysOf(config, data_dir)};
}

Result<mysql::SessionOptions> RunningServer(const std::string& data_dir) {
  CARILLON_ASSIGN_OR_RETURN(const process::Runtime runtime, process::ReadRuntime(data_dir));
  if (runtime.store_socket.empty()) {
    return {ErrorCode::kInvalid,
            "the server on " + data_dir +
                " does not run its own database; use --config with the file of the schedulers"};
  }
  return mysql::SessionOptions{.socket_path = runtime.store_socket,
                               .user = runtime.store_user,
                               .database = runtime.store_database};
}

Result<mysql::BackupFile> RestoreInto(const Config& config, mysql::RestoreOptions options) {
  // The backup file is checked before the data directory is created.
  if (const auto file = mysql::ReadBackupFile(options.file); !file.ok()) return file.error();
  CARILLON_ASSIGN_OR_RETURN(const auto directory, process::DataDirectory::Open(config));
  const SystemClock clock;
  CARILLON_ASSIGN_OR_RETURN(const auto server, mysql::PrivateMariadbd::Start(
                                                   MariadbdOptionsOf(config, *directory), clock));
  options.session = StoreOptionsOf(config, *server).session;
  Result<mysql::BackupFile> restored = mysql::RestoreBackup(options);
  CARILLON_TRY(server->Stop());
  return restored;
}

}  // namespace

Result<BackupReply> CreateBackup(const BackupArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Config config, LoadOf(arguments));
  const std::string data_dir = IsStandalone(config) ? process::DataDirectoryPath(config) : "";
  CARILLON_ASSIGN_OR_RETURN(
      const mysql::SessionOptions session,
      data_dir.empty() ? store::SessionOptionsOf(config) : RunningServer(data_dir));
  CARILLON_ASSIGN_OR_RETURN(
      const mysql::BackupFile made,
      mysql::CreateBackup({.session = session, .file = arguments.file, .search = SearchPath()},
                          SystemClock()));
  return ReplyOf(made, config, data_dir);
}

Result<std::string> RestoreTarget(const BackupArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Config config, LoadOf(arguments));
  if (IsStandalone(config)) return "the database of " + process::DataDirectoryPath(config);
  return fmt::format("database {} at {}:{}", config.Text("store.database"),
                     config.Text("store.host"), config.Integer("store.port"));
}

Result<BackupReply> RestoreBackup(const BackupArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Config config, LoadOf(arguments));
  mysql::RestoreOptions options{
      .file = arguments.file, .search = SearchPath(), .replace = arguments.replace};
  if (IsStandalone(config)) {
    CARILLON_ASSIGN_OR_RETURN(const mysql::BackupFile restored, RestoreInto(config, options));
    return ReplyOf(restored, config, process::DataDirectoryPath(config));
  }
  CARILLON_ASSIGN_OR_RETURN(options.session, store::SessionOptionsOf(config));
  CARILLON_ASSIGN_OR_RETURN(const mysql::BackupFile restored, mysql::RestoreBackup(options));
  return ReplyOf(restored, config, "");
}

}  // namespace carillon::cli
