#include "executor/warden/container/container_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "executor/journal/byte_codec.h"
#include "executor/journal/file_descriptor.h"

namespace carillon::executor {
namespace {

constexpr size_t kRecordBytesMax = 8u << 20;
constexpr uint32_t kRecordVersion = 1;
constexpr uint32_t kRecordTextsMax = 4096;
constexpr char kUuidSource[] = "/proc/sys/kernel/random/uuid";

void PutList(ByteWriter& out, const std::vector<std::string>& texts) {
  out.U32(static_cast<uint32_t>(texts.size()));
  for (const std::string& text : texts) out.Text(text);
}

std::vector<std::string> GetList(ByteReader& in) {
  std::vector<std::string> texts;
  const uint32_t count = in.U32();
  if (count > kRecordTextsMax) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) texts.push_back(in.Text());
  return texts;
}

std::optional<std::string> ReadSmallFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.open()) return std::nullopt;
  std::string bytes;
  char buffer[8192];
  for (;;) {
    const ssize_t n = read(file.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || bytes.size() > kRecordBytesMax) return std::nullopt;
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(n));
  }
}

// Readers see the whole text, or no file.
Status WriteWhole(const std::string& path, std::string_view text) {
  const std::string beside = path + ".new";
  const FileDescriptor file(
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  const bool written = file.open() &&
                       write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       rename(beside.c_str(), path.c_str()) == 0;
  if (written) return {};
  return {ErrorCode::kUnavailable, fmt::format("write {}: {}", path, std::strerror(errno))};
}

}  // namespace

std::string EncodeRecord(const ContainerRecord& record) {
  ByteWriter out;
  out.U32(kRecordVersion);
  out.Text(record.engine);
  out.Text(record.name);
  out.Text(record.warden_id);
  PutList(out, record.create);
  out.I64(record.grace_s);
  PutList(out, record.client_env);
  return out.Take();
}

std::optional<ContainerRecord> DecodeRecord(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.U32() != kRecordVersion) return std::nullopt;
  ContainerRecord record;
  record.engine = in.Text();
  record.name = in.Text();
  record.warden_id = in.Text();
  record.create = GetList(in);
  record.grace_s = in.I64();
  record.client_env = GetList(in);
  if (!in.Finished()) return std::nullopt;
  return record;
}

Result<ContainerRecord> ReadRecord(const std::string& path) {
  const std::optional<std::string> bytes = ReadSmallFile(path);
  if (!bytes) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return Error{code, fmt::format("read {}: {}", path, std::strerror(errno))};
  }
  std::optional<ContainerRecord> record = DecodeRecord(*bytes);
  if (!record) return Error{ErrorCode::kCorrupt, path + " is no record of a container"};
  return *std::move(record);
}

std::string RecordsIn(const std::string& warden_directory) { return warden_directory + "/containers"; }
std::vector<std::string> ListRecords(const std::string& records) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(records, error)) {
    const std::string name = entry.path().filename();
    if (name.find('.') == std::string::npos) names.push_back(name);  // neither an end nor a file beside one
  }
  return names;
}

std::string EndFileOf(const std::string& record_file) { return record_file + ".end"; }

Status WriteEnd(const std::string& record_file, const ContainerEnd& end) {
  return WriteWhole(EndFileOf(record_file), EncodeEnd(end));
}

std::optional<std::string> ReadEnd(const std::string& record_file) {
  return ReadSmallFile(EndFileOf(record_file));
}

Result<std::string> WardenIdOf(const std::string& warden_directory) {
  const std::string path = warden_directory + "/id";
  for (const bool made : {false, true}) {
    if (const auto known = ReadSmallFile(path); known && !known->empty()) return *known;
    if (made) break;
    // The kernel's files have no size, but this one is short.
    std::optional<std::string> fresh = ReadSmallFile(kUuidSource);
    if (!fresh || fresh->size() < 36) return {ErrorCode::kUnavailable, fmt::format("read {}", kUuidSource)};
    CARILLON_TRY(WriteWhole(path, fresh->substr(0, 36)));
  }
  return {ErrorCode::kUnavailable, "read " + path};
}

std::vector<std::string> ClientEnvironment() {
  std::vector<std::string> env;
  bool path = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!SteersEngine(name) || name.starts_with("LD_") || name.starts_with("NOTIFY_")) continue;
    path = path || name == "PATH";
    env.emplace_back(text);
  }
  if (!path) env.emplace_back("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  return env;
}

}  // namespace carillon::executor
