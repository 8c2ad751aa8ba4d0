// The files of a daemon's data directory that outside programs rely on.
//
// Owns     The lock: one daemon at a time on a directory.
// Errors   Open: kConflict when another server holds it (names its pid), kUnavailable when the
//          directory cannot be made or written, kDenied when it is not the process's own or others
//          can write to it.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/config/load.h"

namespace carillon::process {

// What runtime.json tells (docs/operations.md); what is empty or 0 is left out.
struct Runtime {
  int warden_pid = 0;
  int mariadbd_pid = 0;
  std::string url;
  std::string ops_url;
  std::string grpc;  // "host:port"
  std::string member_id;
  std::string executor_id;
  std::string token_file;
  std::string store_socket;
  std::string store_database;
  std::string store_user;

  bool operator==(const Runtime&) const = default;
};

// The path that the setting data_dir names.
std::string DataDirectoryPath(const config::Config& config);

// Reads what the server on the data directory `path` has published. kNotFound: none runs there, or
// it is not ready yet.
Result<Runtime> ReadRuntime(const std::string& path);

class DataDirectory {
 public:
  // Makes it (mode 0700) if it is missing, and locks it until destroyed.
  static Result<std::unique_ptr<DataDirectory>> Open(const std::string& path);
  // The one that the setting data_dir names.
  static Result<std::unique_ptr<DataDirectory>> Open(const config::Config& config);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string Sub(const std::string& name) const { return path_ + "/" + name; }
  std::string token_file() const { return Sub("admin.token"); }

  // The secret of the file `name`; empty when it does not exist. kDenied: a symbolic link, somebody
  // else's, or more than its owner can read or write it.
  Result<std::string> ReadSecret(const std::string& name) const;
  // Durable when it returns: written beside, fsynced, renamed.
  Status WriteSecret(const std::string& name, const std::string& text) const;

  // Replaces runtime.json as a whole.
  Status Publish(const Runtime& runtime) const;
  void Unpublish() const;

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  const std::string path_;
  const int lock_;
};

}  // namespace carillon::process
