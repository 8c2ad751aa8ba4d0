#include "common/adapters/mysql/backup/backup_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

namespace carillon::mysql {
namespace {

using nlohmann::json;

constexpr int kBackupFormat = 1;
constexpr std::string_view kHead = "-- carillon backup ";
constexpr std::string_view kTail = "-- carillon backup is complete ";
constexpr std::streamoff kLineBytesMax = 64 << 10;

Error FileError(std::string_view what, const std::string& path) {
  return {ErrorCode::kUnavailable, fmt::format("{} {}: {}", what, path, std::strerror(errno))};
}

std::string LastLine(std::ifstream& in, std::streamoff size) {
  const std::streamoff from = std::max<std::streamoff>(0, size - kLineBytesMax);
  std::string text(static_cast<size_t>(size - from), '\0');
  in.clear();
  in.seekg(from);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (text.empty() || text.back() != '\n') return "";
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

json ObjectOf(const std::string& line, std::string_view mark) {
  if (!line.starts_with(mark)) return json(nullptr);
  return json::parse(line.substr(mark.size()), nullptr, false);
}

Status ReadHead(const json& object, const std::string& path, BackupHead* head) {
  if (!object.is_object()) {
    return {ErrorCode::kInvalid, path + " was not written by `carillon backup create`"};
  }
  if (object.value("format", 0) != kBackupFormat) {
    return {ErrorCode::kInvalid, path + " is a backup of another format: use a newer program"};
  }
  head->schema = object.value("schema_version", 0);
  head->store_id = object.value("store_id", "");
  CARILLON_ASSIGN_OR_RETURN(head->taken, ParseRfc3339(object.value("taken", "")));
  return {};
}

}  // namespace

std::string HeadLine(const BackupHead& head) {
  const json object = {{"format", kBackupFormat},
                       {"schema_version", head.schema},
                       {"store_id", head.store_id},
                       {"taken", FormatRfc3339(head.taken)}};
  return std::string(kHead) + object.dump() + "\n";
}

std::string TailLine(const std::map<std::string, int64_t>& rows) {
  return std::string(kTail) + json{{"rows", rows}}.dump() + "\n";
}

Result<BackupFile> ReadBackupFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {ErrorCode::kInvalid, FileError("cannot read", path).message};
  const std::streamoff size = in.tellg();
  std::string first(static_cast<size_t>(std::clamp<std::streamoff>(size, 0, kLineBytesMax)), '\0');
  in.seekg(0);
  in.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(std::min(first.find('\n'), first.size()));
  BackupFile file{.head = {}, .rows = {}, .bytes = size};
  try {
    CARILLON_TRY(ReadHead(ObjectOf(first, kHead), path, &file.head));
    const json tail = ObjectOf(LastLine(in, size), kTail);
    if (!tail.is_object()) return {ErrorCode::kCorrupt, path + " is not complete"};
    file.rows = tail.at("rows").get<std::map<std::string, int64_t>>();
  } catch (const json::exception&) {
    return {ErrorCode::kCorrupt, path + ": its first or last line cannot be read"};
  }
  return file;
}

Result<std::unique_ptr<NewFile>> NewFile::Begin(const std::string& path) {
  const std::string part = path + ".part";
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return FileError("create", part);
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      status.st_nlink != 1) {
    close(fd);
    return Error{ErrorCode::kDenied, part + " is not a file of this user's own; remove it"};
  }
  std::unique_ptr<NewFile> file(new NewFile(path, fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    file->committed_ = true;  // the other process removes the file
    return Error{ErrorCode::kConflict, "another backup is being written to " + part};
  }
  if (ftruncate(fd, 0) != 0 || fchmod(fd, 0600) != 0) return FileError("truncate", part);
  return file;
}

NewFile::~NewFile() {
  if (!committed_) unlink(PartPath().c_str());
  close(fd_);
}

Status NewFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return FileError("write", PartPath());
    bytes.remove_prefix(static_cast<size_t>(n));
    bytes_ += n;
  }
  return {};
}

Status NewFile::Commit() {
  if (fsync(fd_) != 0) return FileError("fsync", PartPath());
  if (rename(PartPath().c_str(), path_.c_str()) != 0) return FileError("rename to", path_);
  committed_ = true;
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError("open", folder);
  const bool synced = fsync(fd) == 0;
  close(fd);
  return synced ? Status() : Status(FileError("fsync", folder));
}

}  // namespace carillon::mysql
