#include "common/process/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/core.h>

namespace carillon::process {
namespace {

constexpr int kRuntimeSchema = 1;
Error Failed(const std::string& what, const std::string& path) {
  return {ErrorCode::kUnavailable, what + " " + path + ": " + std::strerror(errno)};
}

Status SyncPath(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return Failed("open", path);
  const int rc = fsync(fd);
  close(fd);
  if (rc != 0) return Failed("fsync", path);
  return {};
}

Status WriteAll(int fd, const std::string& text, const std::string& path) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Failed("write", path);
    done += static_cast<size_t>(n);
  }
  return {};
}

// Replaces a file so that readers see either the old file or the complete new one, even after a
// crash. If a crash or another user has left a file at the temporary path, it is removed first and
// never written to.
Status ReplaceFile(const std::string& directory, const std::string& name, const std::string& text) {
  const std::string path = directory + "/" + name;
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Failed("create", fresh);
  Status written = WriteAll(fd, text, fresh);
  const bool synced = fsync(fd) == 0;
  close(fd);
  if (!written.ok()) return written;
  if (!synced) return Failed("fsync", fresh);
  if (rename(fresh.c_str(), path.c_str()) != 0) return Failed("rename to", path);
  return SyncPath(directory, O_RDONLY | O_DIRECTORY);
}

Error Denied(const std::string& path, const std::string& why) {
  return {ErrorCode::kDenied, path + " " + why};
}

// Creates the directory with mode 0700, and its parents according to the umask.
Status MakeDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) {
    return {ErrorCode::kUnavailable, "make data directory " + path + ": " + error.message()};
  }
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Failed("make data directory", path);
}

// Refuses a directory that another user owns or can write to: that user could plant the first
// administrator's token, or replace the lock by a link to another file. A link to the directory is
// allowed if it belongs to the user of this process or to root.
Status CheckDirectory(const std::string& path) {
  struct stat link {};
  struct stat directory {};
  if (lstat(path.c_str(), &link) != 0 || stat(path.c_str(), &directory) != 0) {
    return Failed("open data directory", path);
  }
  if (!S_ISDIR(directory.st_mode)) {
    return {ErrorCode::kUnavailable, "data directory " + path + " is not a directory"};
  }
  const uid_t self = geteuid();
  const bool link_ok = !S_ISLNK(link.st_mode) || link.st_uid == self || link.st_uid == 0;
  if (directory.st_uid != self || !link_ok) {
    const uid_t owner = link_ok ? directory.st_uid : link.st_uid;
    return Denied("data directory " + path,
                  fmt::format("belongs to user id {}, and this server runs as {}; chown it, or "
                              "choose another with --data-dir",
                              owner, self));
  }
  if ((directory.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Denied("data directory " + path,
                  fmt::format("can be written by others (mode {:04o}); look at what is in it, then "
                              "chmod 700 {}",
                              directory.st_mode & 07777, path));
  }
  return {};
}

Status CheckSecretFile(int fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return Failed("stat", path);
  if (!S_ISREG(status.st_mode)) return Denied(path, "is not a regular file");
  if (status.st_uid != geteuid()) {
    return Denied(path, fmt::format("belongs to user id {}, and this server runs as {}; chown it",
                                    status.st_uid, geteuid()));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Denied(path, "can be read or written by others; chmod 600 " + path);
  }
  return {};
}

// Reads up to `size` bytes; fewer if the file ends.
Result<std::string> ReadUpTo(int fd, size_t size, const std::string& path) {
  std::string text(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = read(fd, text.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("read", path);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  text.resize(done);
  return text;
}

// The error of opening a file that must not be a symbolic link.
Error FailedToOpen(const std::string& path) {
  if (errno != ELOOP) return Failed("open", path);
  return Denied(path, "is a symbolic link; put the file itself in its place");
}

std::string HolderOf(int lock) {
  char text[32] = {};
  const ssize_t n = pread(lock, text, sizeof(text) - 1, 0);
  return n > 0 ? " (pid " + std::string(text, static_cast<size_t>(n)) + ")" : "";
}

}  // namespace

Result<Runtime> ReadRuntime(const std::string& path) {
  const std::string file = path + "/runtime.json";
  std::ifstream in(file, std::ios::binary);
  if (!in) return {ErrorCode::kNotFound, "no server runs on the data directory " + path};
  const auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object()) return {ErrorCode::kCorrupt, file + " cannot be read"};
  try {
    const auto store = json.value("store", nlohmann::json::object());
    return Runtime{.warden_pid = json.value("warden_pid", 0),
                   .mariadbd_pid = json.value("mariadbd_pid", 0),
                   .url = json.value("url", ""),
                   .ops_url = json.value("ops_url", ""),
                   .grpc = json.value("grpc", ""),
                   .member_id = json.value("member_id", ""),
                   .executor_id = json.value("executor_id", ""),
                   .token_file = json.value("token_file", ""),
                   .store_socket = store.value("socket", ""),
                   .store_database = store.value("database", ""),
                   .store_user = store.value("user", "")};
  } catch (const nlohmann::json::exception&) {
    return {ErrorCode::kCorrupt, file + " cannot be read"};
  }
}

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(const std::string& path) {
  std::error_code error;
  std::string full = std::filesystem::absolute(path, error).lexically_normal().string();
  // With a trailing slash, a link would be followed, and the directory would count as its
  // own parent.
  if (full.size() > 1 && full.back() == '/') full.pop_back();
  CARILLON_TRY(MakeDirectory(full));
  CARILLON_TRY(CheckDirectory(full));
  const std::string lock_path = full + "/carillon.lock";
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock < 0) return FailedToOpen(lock_path);
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = HolderOf(lock);
    close(lock);
    return {ErrorCode::kConflict, "another server" + holder + " is using the data directory " +
                                      full + "; choose another with --data-dir"};
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(lock, 0) != 0 || pwrite(lock, pid.data(), pid.size(), 0) < 0) {
    const Error failed = Failed("write", lock_path);
    close(lock);
    return failed;
  }
  // The data published by a killed predecessor is outdated.
  unlink((full + "/runtime.json").c_str());
  return std::unique_ptr<DataDirectory>(new DataDirectory(full, lock));
}

std::string DataDirectoryPath(const config::Config& config) {
  const char* home = std::getenv("HOME");
  return config::ExpandHome(config.Text("data_dir"), home != nullptr ? home : "/root");
}

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(const config::Config& config) {
  return Open(DataDirectoryPath(config));
}

DataDirectory::~DataDirectory() { close(lock_); }

Result<std::string> DataDirectory::ReadSecret(const std::string& name) const {
  const std::string path = Sub(name);
  // O_NONBLOCK: a pipe in place of the file must not block.
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::string();
  if (fd < 0) return FailedToOpen(path);
  const Status fit = CheckSecretFile(fd, path);
  auto text = fit.ok() ? ReadUpTo(fd, kSecretBytesMax + 1, path) : Result<std::string>(fit.error());
  close(fd);
  if (text.ok() && text->size() > kSecretBytesMax) {
    return {ErrorCode::kCorrupt, path + " is larger than 4 KiB"};
  }
  return text;
}

Status DataDirectory::WriteSecret(const std::string& name, const std::string& text) const {
  return ReplaceFile(path_, name, text);
}

Status DataDirectory::Publish(const Runtime& runtime) const {
  nlohmann::json json = {{"schema", kRuntimeSchema}, {"pid", getpid()}, {"data_dir", path_}};
  const auto add = [&json](const char* name, const auto& value) {
    if (value != std::decay_t<decltype(value)>()) json[name] = value;
  };
  add("warden_pid", runtime.warden_pid);
  add("mariadbd_pid", runtime.mariadbd_pid);
  add("url", runtime.url);
  add("ops_url", runtime.ops_url);
  add("grpc", runtime.grpc);
  add("member_id", runtime.member_id);
  add("executor_id", runtime.executor_id);
  add("token_file", runtime.token_file);
  if (!runtime.store_socket.empty()) {
    json["store"] = {{"socket", runtime.store_socket},
                     {"database", runtime.store_database},
                     {"user", runtime.store_user}};
  }
  return ReplaceFile(path_, "runtime.json", json.dump(2) + "\n");
}

void DataDirectory::Unpublish() const { unlink(Sub("runtime.json").c_str()); }

}  // namespace carillon::process
