// The file of the user that stores the sessions of `carillon login`, one per server.
//
// Errors   kInvalid: no home directory for the file, or an unreadable file. kUnavailable: the file
//          cannot be written.
// Always   The file has mode 0600, its directory is made with 0700, and the file is replaced
//          atomically. Open locks the file until the SessionFile is destroyed. Without the lock two
//          commands could use the same refresh token, but a refresh token works only once.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::cli {

// The tokens of a signed-in user at one server.
struct StoredSession {
  std::string name;  // the user's name
  std::string refresh_token;
  std::string access_token;
  WallTime access_expires = WallTime{};
};

class SessionFile {
 public:
  // Waits while another command holds the file.
  static Result<SessionFile> Open(const std::map<std::string, std::string>& environment);
  // True if the file exists. Does not wait for the file's lock.
  static bool Exists(const std::map<std::string, std::string>& environment);
  SessionFile(SessionFile&& other) noexcept;
  SessionFile& operator=(SessionFile&&) = delete;
  ~SessionFile();

  std::optional<StoredSession> Find(const std::string& url) const;
  Status Put(const std::string& url, const StoredSession& session);
  Status Remove(const std::string& url);

 private:
  SessionFile(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  Status Read();
  Status Write() const;

  std::string path_;
  int lock_ = -1;
  std::map<std::string, StoredSession> sessions_;
};

}  // namespace carillon::cli
