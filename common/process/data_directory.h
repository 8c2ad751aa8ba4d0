// The files of a daemon's data directory that outside programs rely on.
//
// Owns     The lock, which allows one daemon per directory.
// Errors   Open: kConflict if another server holds the lock (the message names its pid);
//          kUnavailable if the directory cannot be created or written; kDenied if it belongs to
//          another user, or if other users can write to it.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/config/load.h"

namespace carillon::process {

inline constexpr size_t kSecretBytesMax = 4096;  // of a file

// The content of runtime.json (docs/operations.md); empty and 0 values are left out.
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

// The path in the setting data_dir.
std::string DataDirectoryPath(const config::Config& config);

// Reads what the server on the data directory `path` has published. kNotFound: no server runs
// there, or it is not ready yet.
Result<Runtime> ReadRuntime(const std::string& path);

class DataDirectory {
 public:
  // Creates the directory (mode 0700) if it is missing. The directory stays locked until the object
  // is destroyed.
  static Result<std::unique_ptr<DataDirectory>> Open(const std::string& path);
  // Opens the directory of the setting data_dir.
  static Result<std::unique_ptr<DataDirectory>> Open(const config::Config& config);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string Sub(const std::string& name) const { return path_ + "/" + name; }
  std::string token_file() const { return Sub("admin.token"); }

  // The secret in the file `name`; empty if the file does not exist. kDenied: the file is a
  // symbolic link, belongs to another user, or is readable or writable by others.
  Result<std::string> ReadSecret(const std::string& name) const;
  // Durable on return: written to a temporary file, synced, renamed.
  Status WriteSecret(const std::string& name, const std::string& text) const;

  // Replaces runtime.json atomically.
  Status Publish(const Runtime& runtime) const;
  void Unpublish() const;

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  const std::string path_;
  const int lock_;
};

}  // namespace carillon::process
