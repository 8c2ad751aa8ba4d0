#include "executor/warden/container/container_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "common/base/file_descriptor.h"
#include "executor/journal/byte_codec.h"

namespace carillon::executor {
namespace {

constexpr size_t kRecordBytesMax = 8u << 20;
constexpr uint32_t kRecordVersion = 2;
constexpr uint32_t kRecordTextsMax = 4096;
constexpr size_t kUuidBytes = 36;
constexpr char kUuidSource[] = "/proc/sys/kernel/random/uuid";

Error ReadError(const std::string& path, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return {code, fmt::format("read {}: {}", path, std::strerror(error))};
}

Result<std::string> ReadSmallFile(const std::string& path) {
  const std::filesystem::path whole(path);
  const FileDescriptor directory(
      open(whole.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A directory that is not there says nothing about what was in it.
  if (!directory.open()) return Error{ErrorCode::kUnavailable, ReadError(path, errno).message};
  const FileDescriptor file(
      openat(directory.get(), whole.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.open()) return ReadError(path, errno);
  std::string bytes;
  char buffer[8192];
  for (;;) {
    const ssize_t n = read(file.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{ErrorCode::kUnavailable, ReadError(path, errno).message};
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(n));
    if (bytes.size() > kRecordBytesMax) return Error{ErrorCode::kCorrupt, path + " is too large"};
  }
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool SyncDirectoryOf(const std::string& path) {
  const FileDescriptor directory(
      open(std::filesystem::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory.open() && fsync(directory.get()) == 0;
}

bool PutInPlace(const std::string& beside, const std::string& path, std::string_view text) {
  const FileDescriptor file(
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  return file.open() && WriteAll(file.get(), text) && fsync(file.get()) == 0 &&
         rename(beside.c_str(), path.c_str()) == 0 && SyncDirectoryOf(path);
}

bool IsClientVariable(std::string_view name) {
  constexpr std::array<std::string_view, 11> kNames{
      "PATH",        "HOME",     "USER",       "LOGNAME",     "TMPDIR",  "HTTP_PROXY",
      "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"};
  constexpr std::array<std::string_view, 10> kPrefixes{
      "DOCKER_", "BUILDKIT_", "CONTAINER_", "CONTAINERS_", "XDG_",
      "DBUS_",   "SSL_",      "REGISTRY_",  "PODMAN_",     "STORAGE_"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

void PutLimits(ByteWriter& out, const std::optional<Limits>& limits) {
  out.U8(limits ? 1 : 0);
  if (!limits) return;
  out.I64(limits->memory_mb);
  out.Text(fmt::format("{}", limits->cpu));
  out.I64(limits->pids);
}

std::optional<Limits> GetLimits(ByteReader& in) {
  if (in.U8() == 0) return std::nullopt;
  Limits limits;
  limits.memory_mb = in.I64();
  limits.cpu = std::strtod(in.Text().c_str(), nullptr);
  limits.pids = in.I64();
  return limits;
}

}  // namespace

std::string EncodeRecord(const ContainerRecord& record) {
  ByteWriter out;
  out.U32(kRecordVersion);
  out.Text(record.engine);
  out.Text(record.name);
  out.Text(record.warden_id);
  out.Texts(record.create);
  PutLimits(out, record.limits);
  out.I64(record.grace_s);
  out.Text(record.outputs_file);
  out.Texts(record.client_env);
  return out.Take();
}

std::optional<ContainerRecord> DecodeRecord(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.U32() != kRecordVersion) return std::nullopt;
  ContainerRecord record;
  record.engine = in.Text();
  record.name = in.Text();
  record.warden_id = in.Text();
  record.create = in.Texts(kRecordTextsMax);
  record.limits = GetLimits(in);
  record.grace_s = in.I64();
  record.outputs_file = in.Text();
  record.client_env = in.Texts(kRecordTextsMax);
  if (!in.Finished()) return std::nullopt;
  return record;
}

Result<ContainerRecord> ReadRecord(const std::string& path) {
  CARILLON_ASSIGN_OR_RETURN(const std::string bytes, ReadSmallFile(path));
  std::optional<ContainerRecord> record = DecodeRecord(bytes);
  if (!record) return Error{ErrorCode::kCorrupt, path + " is no record of a container"};
  return *std::move(record);
}

std::string RecordsIn(const std::string& warden_directory) {
  return warden_directory + "/containers";
}

Result<std::vector<std::string>> ListRecords(const std::string& records) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(records, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find('.') == std::string::npos)
      names.push_back(name);  // neither an end nor a file beside one
  }
  if (error)
    return Error{ErrorCode::kUnavailable, fmt::format("list {}: {}", records, error.message())};
  return names;
}

std::string EndFileOf(const std::string& record_file) { return record_file + ".end"; }

Status WriteEnd(const std::string& record_file, const ContainerEnd& end) {
  return WriteWhole(EndFileOf(record_file), EncodeEnd(end));
}

Result<ContainerEnd> ReadEnd(const std::string& record_file) {
  CARILLON_ASSIGN_OR_RETURN(const std::string bytes, ReadSmallFile(EndFileOf(record_file)));
  std::optional<ContainerEnd> end = ParseEnd(bytes);
  if (!end) return Error{ErrorCode::kCorrupt, EndFileOf(record_file) + " is no end of a container"};
  return *std::move(end);
}

Result<std::string> WardenIdOf(const std::string& warden_directory) {
  const std::string path = warden_directory + "/id";
  Result<std::string> known = ReadSmallFile(path);
  // An empty file was never the id of a container.
  if (known.ok() && !known->empty()) return known;
  if (!known.ok() && known.code() != ErrorCode::kNotFound) return known.error();
  // The kernel's files have no size, but this one is short.
  CARILLON_ASSIGN_OR_RETURN(const std::string fresh, ReadSmallFile(kUuidSource));
  if (fresh.size() < kUuidBytes)
    return Error{ErrorCode::kUnavailable, fmt::format("read {}", kUuidSource)};
  CARILLON_TRY(WriteWhole(path, std::string_view(fresh).substr(0, kUuidBytes)));
  return fresh.substr(0, kUuidBytes);
}

Status WriteWhole(const std::string& path, std::string_view text) {
  const std::string beside = path + ".new";
  if (PutInPlace(beside, path, text)) return {};
  const int error = errno;
  unlink(beside.c_str());
  return {ErrorCode::kUnavailable, fmt::format("write {}: {}", path, std::strerror(error))};
}

std::vector<std::string> ClientEnvironment() {
  std::vector<std::string> env;
  bool path = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!IsClientVariable(name)) continue;
    path = path || name == "PATH";
    env.emplace_back(text);
  }
  if (!path) env.emplace_back("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  return env;
}

}  // namespace carillon::executor
