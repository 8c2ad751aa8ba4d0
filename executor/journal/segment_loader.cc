#include "executor/journal/segment_loader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "common/base/file_descriptor.h"

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

// Syncs the file of the newest segment and marks all of it as synced.
Status SyncNewest(const FileDescriptor& file, JournalDevice& device, SegmentIndex* index) {
  DeviceOrder order;
  order.kind = DeviceOrder::Kind::kSync;
  order.fd = file.get();
  device.Submit(&order);
  device.Wait();
  if (order.error != 0) return SystemError("journal: sync what was loaded", order.error);
  index->MarkSynced();
  return {};
}

// Applies the records from the front of `bytes` to the newest segment; returns their size.
size_t ApplyRecords(std::string_view bytes, SegmentIndex* index, RecordId* last_id) {
  size_t offset = 0;
  RawRecord record;
  while (ParseRecord(bytes.substr(offset), &record)) {
    const RecordPlace place = {index->newest().number, offset, record.payload.size()};
    *last_id = std::max(*last_id, record.id);
    index->Forget(record.id, 0);
    if (record.kind == RecordKind::kPut) index->Put(record.id, place);
    offset = place.end();
  }
  return offset;
}

Status LoadSegment(const std::string& path, uint64_t number, JournalDevice& device,
                   SegmentIndex* index, LoadedSegments* loaded) {
  CARILLON_ASSIGN_OR_RETURN(const std::string bytes, ReadWhole(path));
  index->Begin(number, 0);
  const size_t good = ApplyRecords(bytes, index, &loaded->last_id);
  const bool torn = bytes.find_first_not_of('\0', good) != std::string::npos;
  if (torn) ++loaded->corrupt_segments;
  index->Grow(good);
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  // What follows the last good record was preallocated or torn. A torn tail is kept for inspection.
  if (!file.open() || (!torn && ftruncate(file.get(), static_cast<off_t>(good)) != 0)) {
    return SystemError("journal: cut " + path, errno);
  }
  return SyncNewest(file, device, index);
}

// The numbers of the segments, ascending.
Result<std::vector<uint64_t>> ListSegments(const std::string& directory) {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name.rfind("spare-", 0) == 0) unlink(entry.path().c_str());
    if (entry.path().extension() != ".log") continue;
    numbers.push_back(std::strtoull(name.c_str(), nullptr, 10));
  }
  if (error) return SystemError("journal: list " + directory, error.value());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

Result<LoadedSegments> LoadSegments(const std::string& directory, JournalDevice& device,
                                    SegmentIndex* index) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("journal: mkdir " + directory, errno);
  }
  CARILLON_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, ListSegments(directory));
  LoadedSegments loaded;
  for (const uint64_t number : numbers) {
    CARILLON_TRY(LoadSegment(SegmentPath(directory, number), number, device, index, &loaded));
  }
  return loaded;
}

}  // namespace carillon::executor
