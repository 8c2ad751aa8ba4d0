// The environment of a command: streams, time, files, the server. main.cc passes the real
// environment. Tests pass a fake.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/client/api_client.h"
#include "common/base/clock.h"
#include "common/config/load.h"

namespace carillon::cli {

// Flags of `standalone`.
struct StandaloneArguments {
  std::string config_file;
  std::vector<config::Override> overrides;
};

// Options of `backup create` and `backup restore`.
struct BackupArguments {
  std::string file;
  std::string config_file;
  std::vector<config::Override> overrides;
  bool replace = false;  // only for restore
};

// The content of a backup that was made or restored.
struct BackupReply {
  std::string store_id;
  int schema_version = 0;
  WallTime taken;
  int64_t tables = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
  std::string data_dir;           // of a standalone server; empty: the store of a cluster
  std::vector<std::string> keys;  // files and variables that the restored store needs
};

// Everything that commands use of their environment.
struct Host {
  std::map<std::string, std::string> environment;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_tty = false;
  bool out_is_tty = false;
  const Clock& clock;
  std::function<void(Duration)> wait;  // blocks for that time
  std::function<std::unique_ptr<Transport>(const std::string& ca_file)> transport;
  // Prompts on the terminal and reads a line without echo.
  std::function<Result<std::string>(const std::string& prompt)> read_password;
  std::function<Status(const std::string& file)> edit;  // opens the file in the user's editor
  std::function<int(const StandaloneArguments&)> standalone;
  std::function<Result<BackupReply>(const BackupArguments&)> create_backup;
  std::function<Result<std::string>(const BackupArguments&)> restore_target;
  std::function<Result<BackupReply>(const BackupArguments&)> restore_backup;
  uint64_t seed = 1;  // for idempotency keys and file names, not for secrets
  std::string version;
};

}  // namespace carillon::cli
