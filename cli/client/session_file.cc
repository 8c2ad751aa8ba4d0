#include "cli/client/session_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/client/user_file.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr size_t kSessionBytesMax = 1u << 20;

std::string PathIn(const std::string& directory) { return directory + "/session.json"; }

StoredSession FromJson(const json& stored) {
  return {.name = stored.value("name", ""),
          .refresh_token = stored.value("refresh_token", ""),
          .access_token = stored.value("access_token", ""),
          .access_expires = ParseRfc3339(stored.value("access_expires", "")).value_or(WallTime{})};
}

}  // namespace

bool SessionFile::Exists(const std::map<std::string, std::string>& environment) {
  const std::string directory = UserDirectory(environment);
  return !directory.empty() && access(PathIn(directory).c_str(), F_OK) == 0;
}

Result<SessionFile> SessionFile::Open(const std::map<std::string, std::string>& environment) {
  const std::string directory = UserDirectory(environment);
  if (directory.empty()) {
    return {ErrorCode::kInvalid,
            "cannot find the session: neither XDG_CONFIG_HOME nor HOME is set"};
  }
  CARILLON_TRY(MakeUserDirectory(directory));
  const std::string lock = PathIn(directory) + ".lock";
  const int file = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return {ErrorCode::kUnavailable, "cannot open " + lock};
  SessionFile opened(PathIn(directory), file);
  while (flock(file, LOCK_EX) != 0) {
    if (errno != EINTR) return {ErrorCode::kUnavailable, "cannot lock " + lock};
  }
  CARILLON_TRY(opened.Read());
  return opened;
}

SessionFile::SessionFile(SessionFile&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      sessions_(std::move(other.sessions_)) {}

SessionFile::~SessionFile() {
  if (lock_ >= 0) close(lock_);
}

Status SessionFile::Read() {
  std::ifstream in(path_, std::ios::binary);
  if (!in) return {};
  std::string text(kSessionBytesMax, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) {
    return {ErrorCode::kInvalid,
            path_ + " is not a valid session file; remove it and sign in again"};
  }
  for (const auto& [url, stored] : document.items()) {
    if (!stored.is_object()) continue;
    try {
      sessions_[url] = FromJson(stored);
    } catch (const json::exception&) {
      continue;  // written by another version; the next sign-in replaces it
    }
  }
  return {};
}

Status SessionFile::Write() const {
  json document = json::object();
  for (const auto& [url, session] : sessions_) {
    document[url] = {{"name", session.name},
                     {"refresh_token", session.refresh_token},
                     {"access_token", session.access_token},
                     {"access_expires", FormatRfc3339(session.access_expires)}};
  }
  return ReplaceUserFile(path_, JsonToText(document));
}

std::optional<StoredSession> SessionFile::Find(const std::string& url) const {
  const auto found = sessions_.find(url);
  if (found == sessions_.end() || found->second.refresh_token.empty()) return std::nullopt;
  return found->second;
}

Status SessionFile::Put(const std::string& url, const StoredSession& session) {
  sessions_[url] = session;
  return Write();
}

Status SessionFile::Remove(const std::string& url) {
  if (sessions_.erase(url) == 0) return {};
  return Write();
}

}  // namespace carillon::cli
