#include "scheduler/server/secret_keys.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/core.h>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr const char* kVariable = "CARILLON_SECRETS_KEY";
constexpr const char* kFileName = "secrets.key";
constexpr size_t kFileBytesMax = 64u << 10;

Error About(const std::string& file, ErrorCode code, std::string_view what) {
  return {code, fmt::format("secrets.key_file {}: {}", file, what)};
}

struct FileText {
  std::string text;
  struct stat status = {};
};

// Reads status and text through one descriptor. So both belong to the same file, even while the
// file is being replaced.
Result<FileText> ReadKeyFile(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return About(file, ErrorCode::kUnavailable, std::strerror(errno));
  FileText read_file;
  read_file.text.resize(kFileBytesMax + 1);
  const bool known = fstat(fd, &read_file.status) == 0;
  const ssize_t size = read(fd, read_file.text.data(), read_file.text.size());
  close(fd);
  if (!known || size < 0) return About(file, ErrorCode::kUnavailable, "cannot be read");
  if ((read_file.status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return About(file, ErrorCode::kDenied, "others can read or write it; chmod 600");
  }
  read_file.text.resize(static_cast<size_t>(size));
  if (read_file.text.size() > kFileBytesMax) {
    return About(file, ErrorCode::kInvalid, "is larger than 64 KiB");
  }
  return read_file;
}

}  // namespace

Result<std::unique_ptr<SecretKeys>> SecretKeys::Open(Places places) {
  if (!places.file.empty() && !places.environment.empty()) {
    return {
        ErrorCode::kInvalid,
        fmt::format("the keys of secrets are set twice: by secrets.key_file and by {}", kVariable)};
  }
  std::unique_ptr<SecretKeys> source(new SecretKeys(std::move(places.file)));
  MutexLock lock(source->mu_);
  if (!source->file_.empty()) {
    CARILLON_TRY(source->Read());
  } else if (!places.environment.empty()) {
    std::replace(places.environment.begin(), places.environment.end(), ',', '\n');
    auto keys = Keyring::Parse(places.environment);
    if (!keys.ok()) {
      return Error{keys.code(), fmt::format("{}: {}", kVariable, keys.error().message)};
    }
    source->keys_ = std::make_shared<const Keyring>(std::move(keys).value());
  }
  return source;
}

Status SecretKeys::Read() const {
  CARILLON_ASSIGN_OR_RETURN(const FileText found, ReadKeyFile(file_));
  auto keys = Keyring::Parse(found.text);
  if (!keys.ok()) return About(file_, keys.code(), keys.error().message);
  keys_ = std::make_shared<const Keyring>(std::move(keys).value());
  seen_ = found.status;
  return {};
}

bool SecretKeys::Changed(const struct stat& status) const {
  return status.st_ino != seen_.st_ino || status.st_dev != seen_.st_dev ||
         status.st_size != seen_.st_size || status.st_mode != seen_.st_mode ||
         status.st_mtim.tv_sec != seen_.st_mtim.tv_sec ||
         status.st_mtim.tv_nsec != seen_.st_mtim.tv_nsec;
}

std::shared_ptr<const Keyring> SecretKeys::Keys() const {
  MutexLock lock(mu_);
  struct stat status {};
  if (file_.empty() || stat(file_.c_str(), &status) != 0 || !Changed(status)) return keys_;
  const Status read_again = Read();
  if (read_again.ok()) {
    log::Info("secrets", "{}: {} keys, the first is {}", file_, keys_->size(), keys_->current());
  } else {
    log::Error("secrets", "{}; keeping the previous keys", read_again.error().message);
    seen_ = status;  // so that this file is logged once only
  }
  return keys_;
}

std::string TakeSecretsEnvironment() {
  char* value = std::getenv(kVariable);
  std::string keys = value == nullptr ? "" : value;
  // The value is overwritten as well, because /proc/PID/environ shows it to every process of
  // the same user.
  if (value != nullptr) std::fill_n(value, keys.size(), '\0');
  unsetenv(kVariable);
  return keys;
}

Result<std::string> EnsureSecretKeyFile(const process::DataDirectory& directory) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text, directory.ReadSecret(kFileName));
  if (text.empty()) {
    CARILLON_TRY(directory.WriteSecret(kFileName, Keyring::NewKey() + "\n"));
  }
  return directory.Sub(kFileName);
}

}  // namespace carillon::scheduler
