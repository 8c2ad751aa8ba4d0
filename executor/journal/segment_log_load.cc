// Loads a segment log from its directory. Waits for the device.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "executor/journal/segment_log.h"

namespace carillon::executor {
namespace {

Error SystemError(const std::string& what, int error) {
  return {ErrorCode::kUnavailable, what + ": " + std::strerror(error)};
}

Result<std::string> ReadWhole(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return SystemError("journal: stat " + path, errno);
  DeviceOrder order;
  order.kind = DeviceOrder::Kind::kRead;
  order.path = path;
  order.bytes.resize(static_cast<size_t>(info.st_size));
  ExecuteOrder(order);
  if (order.error != 0) return SystemError("journal: read " + path, order.error);
  order.bytes.resize(order.done);
  return std::move(order.bytes);
}

}  // namespace

Result<std::unique_ptr<SegmentLog>> SegmentLog::Open(Options options,
                                                     std::unique_ptr<JournalDevice> device) {
  CARILLON_CHECK(options.segment_bytes > kRecordBytesMax, "journal: segments too small");
  std::unique_ptr<SegmentLog> log(new SegmentLog(std::move(options), std::move(device)));
  CARILLON_TRY(log->Load());
  return log;
}

Status SegmentLog::Load() {
  if (mkdir(options_.directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("journal: mkdir " + options_.directory, errno);
  }
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.directory, error)) {
    const std::string name = entry.path().filename();
    if (name.rfind("spare-", 0) == 0) unlink(entry.path().c_str());
    if (entry.path().extension() != ".log") continue;
    numbers.push_back(std::strtoull(name.c_str(), nullptr, 10));
  }
  if (error) return SystemError("journal: list " + options_.directory, error.value());
  std::sort(numbers.begin(), numbers.end());
  for (const uint64_t number : numbers) CARILLON_TRY(LoadSegment(number));
  if (!numbers.empty()) next_segment_ = numbers.back() + 1;
  while (HasDeadSegment()) {
    Begin({Order::kDelete, false});
    device_->Wait();
    CARILLON_TRY(Finish());
  }
  return {};
}

Status SegmentLog::LoadSegment(uint64_t number) {
  CARILLON_ASSIGN_OR_RETURN(const std::string bytes, ReadWhole(PathOf(number)));
  segments_.push_back({.number = number});
  size_t offset = 0;
  RawRecord record;
  while (ParseRecord(std::string_view(bytes).substr(offset), &record)) {
    const size_t size = record.payload.size();
    next_id_ = std::max(next_id_, record.id + 1);
    Forget(record.id, 0);
    if (record.kind == RecordKind::kPut) {
      Settle({.id = record.id, .place = {number, offset, size}});
    }
    offset += kRecordHeaderBytes + size;
  }
  const bool torn = bytes.find_first_not_of('\0', offset) != std::string::npos;
  if (torn) ++corrupt_segments_;
  segments_.back().used = offset;
  disk_bytes_ += offset;
  const FileDescriptor file(open(PathOf(number).c_str(), O_RDWR | O_CLOEXEC));
  // What follows the last good record was preallocated or torn. A torn tail is kept for inspection.
  if (!file.open() || (!torn && ftruncate(file.get(), static_cast<off_t>(offset)) != 0)) {
    return SystemError("journal: cut " + PathOf(number), errno);
  }
  return SyncLoaded(file);
}

// The process that wrote it may have died before syncing; afterwards all of it counts as synced.
Status SegmentLog::SyncLoaded(const FileDescriptor& file) {
  order_.kind = Order::kSync;
  order_.fd = file.get();
  order_.error = 0;
  device_->Submit(&order_);
  device_->Wait();
  if (order_.error != 0) return SystemError("journal: sync what was loaded", order_.error);
  segments_.back().synced = segments_.back().used;
  return {};
}

}  // namespace carillon::executor
