// The sessions of somebody who signed in with `carillon login`, by server, in a file of his own.
//
// Errors   kInvalid: there is no home for the file, or it
//          cannot be read. kUnavailable: it cannot be written.
// Always   The file is 0600 in a directory made 0700, and replaced as a whole. Open holds it until
//          the object goes: a refresh token works once, so two commands must not use the same.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::cli {

struct StoredSession {
  std::string name;  // who signed in
  std::string refresh_token;
  std::string access_token;
  WallTime access_expires = WallTime{};
};

class SessionFile {
 public:
  // Waits for another command that holds it.
  static Result<SessionFile> Open(const std::map<std::string, std::string>& environment);
  // Whether there is one; without waiting for it.
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
