#include "executor/checkpoints/disk_run_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "common/domain/run/run_save.h"

namespace carillon::executor {
namespace {

constexpr std::string_view kProgressSuffix = ".progress";
constexpr std::string_view kCheckpointSuffix = ".checkpoint";
constexpr size_t kRunIdBytes = 26;

using AttemptKey = std::pair<RunKey, int>;

Error DiskError(std::string_view what, const std::string& name) {
  return {ErrorCode::kUnavailable, fmt::format("{} {}: {}", what, name, std::strerror(errno))};
}

std::string NameOfFile(const RunFile& file) {
  return fmt::format("{}-{}{}", EncodeRunId(file.key), file.attempt,
                     file.kind == RunFileKind::kProgress ? kProgressSuffix : kCheckpointSuffix);
}

// The attempt by the begin of a name, RUN_ID-ATTEMPT. and the rest of the name.
std::optional<std::pair<AttemptKey, std::string_view>> SplitName(std::string_view name) {
  const size_t point = name.find('.');
  if (point == std::string_view::npos || point < kRunIdBytes + 2 || name[kRunIdBytes] != '-') {
    return std::nullopt;
  }
  const auto key = DecodeRunId(name.substr(0, kRunIdBytes));
  int attempt = 0;
  const auto [end, error] =
      std::from_chars(name.data() + kRunIdBytes + 1, name.data() + point, attempt);
  if (!key.ok() || error != std::errc() || end != name.data() + point || attempt < 1) {
    return std::nullopt;
  }
  return std::pair{AttemptKey{*key, attempt}, name.substr(point)};
}

RunFileMark MarkOf(const struct stat& info) {
  return {.inode = info.st_ino,
          .size = info.st_size,
          .changed_ns = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
}

size_t BytesMaxOf(RunFileKind kind) {
  return kind == RunFileKind::kProgress ? kProgressBytesMax : kCheckpointBytesMax;
}

Result<std::string> ReadUpTo(int fd, size_t bytes_max) {
  std::string bytes(bytes_max, '\0');
  size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t n = read(fd, bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return Error{ErrorCode::kUnavailable, std::string("cannot be read: ") + std::strerror(errno)};
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  bytes.resize(size);
  return bytes;
}

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{ErrorCode::kUnavailable, std::strerror(errno)};
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<DiskRunFiles>> DiskRunFiles::Open(const std::string& directory) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return DiskError("cannot create", directory);
  }
  FileDescriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened.open()) return DiskError("cannot open", directory);
  return std::unique_ptr<DiskRunFiles>(new DiskRunFiles(directory, std::move(opened)));
}

std::string DiskRunFiles::PathOf(const RunFile& file) const {
  return path_ + "/" + NameOfFile(file);
}

Status DiskRunFiles::OpenList() {
  const int copy = openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = copy < 0 ? nullptr : fdopendir(copy);
  if (entries == nullptr) {
    const Error error = DiskError("cannot list", path_);
    if (copy >= 0) close(copy);
    return error;
  }
  list_.reset(entries);
  return {};
}

Result<std::vector<RunFiles::Found>> DiskRunFiles::ListNext(size_t max) {
  if (!list_) CARILLON_TRY(OpenList());
  std::vector<Found> found;
  while (found.size() < max) {
    errno = 0;
    const dirent* entry = readdir(list_.get());
    if (entry == nullptr) {
      const int error = errno;
      list_.reset();
      errno = error;
      if (error != 0) return DiskError("cannot list", path_);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    Found& one = found.emplace_back(Found{.name = std::string(name)});
    const auto split = SplitName(one.name);
    if (!split) continue;
    one.attempt = split->first;
    if (split->second == kProgressSuffix) one.kind = RunFileKind::kProgress;
    if (split->second == kCheckpointSuffix) one.kind = RunFileKind::kCheckpoint;
  }
  return found;
}

std::optional<RunFileMark> DiskRunFiles::Look(const RunFile& file) {
  struct stat info {};
  const std::string name = NameOfFile(file);
  if (fstatat(directory_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return MarkOf(info);
}

Result<std::optional<RunFiles::Content>> DiskRunFiles::Read(const RunFile& file) {
  // O_NONBLOCK: the open of a FIFO would wait for a writer.
  const FileDescriptor opened(openat(directory_.get(), NameOfFile(file).c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!opened.open()) {
    if (errno == ENOENT) return std::optional<Content>{};
    // ELOOP is a symbolic link, ENXIO a socket, EACCES a file that its writer has closed to others.
    if (errno == ELOOP || errno == ENXIO)
      return Error{ErrorCode::kInvalid, "it is not a regular file"};
    if (errno == EACCES) return Error{ErrorCode::kInvalid, "it may not be read"};
    return Error{ErrorCode::kUnavailable, std::string("cannot be opened: ") + std::strerror(errno)};
  }
  struct stat before {};
  struct stat after {};
  if (fstat(opened.get(), &before) != 0)
    return Error{ErrorCode::kUnavailable, "cannot be looked at"};
  if (!S_ISREG(before.st_mode)) return Error{ErrorCode::kInvalid, "it is not a regular file"};
  // A hard link is a regular file, too, but keeps the owner of what it leads to.
  if (before.st_uid != geteuid()) return Error{ErrorCode::kInvalid, "it belongs to another user"};
  const size_t bytes_max = BytesMaxOf(file.kind);
  // One byte more shows that the file is too large, even if its size has changed meanwhile.
  CARILLON_ASSIGN_OR_RETURN(std::string bytes, ReadUpTo(opened.get(), bytes_max + 1));
  if (bytes.size() > bytes_max) {
    return Error{ErrorCode::kInvalid, fmt::format("it is larger than {} KiB", bytes_max >> 10)};
  }
  const bool same = fstat(opened.get(), &after) == 0 && before.st_size == after.st_size &&
                    before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                    before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
                    static_cast<size_t>(before.st_size) == bytes.size();
  if (!same) return Error{ErrorCode::kConflict, "it is being written"};
  return std::optional(Content{std::move(bytes), MarkOf(before)});
}

Status DiskRunFiles::Write(const RunFile& file, const std::string& bytes) {
  const std::string name = NameOfFile(file);
  const std::string beside = name + ".new";
  unlinkat(directory_.get(), beside.c_str(), 0);
  const FileDescriptor opened(openat(directory_.get(), beside.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!opened.open()) return DiskError("cannot create", path_ + "/" + beside);
  const Status written = WriteAll(opened.get(), bytes);
  if (!written.ok()) {
    const Error error{ErrorCode::kUnavailable, fmt::format("cannot write {}/{}: {}", path_, beside,
                                                           written.error().message)};
    unlinkat(directory_.get(), beside.c_str(), 0);
    return error;
  }
  if (renameat(directory_.get(), beside.c_str(), directory_.get(), name.c_str()) != 0) {
    return DiskError("cannot rename", path_ + "/" + beside);
  }
  return {};
}

Status DiskRunFiles::Remove(const std::string& name) {
  if (unlinkat(directory_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return DiskError("cannot remove", path_ + "/" + name);
}

}  // namespace carillon::executor
