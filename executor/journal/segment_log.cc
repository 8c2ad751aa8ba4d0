#include "executor/journal/segment_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "executor/journal/byte_codec.h"
#include "executor/journal/crc32.h"

namespace carillon::executor {
namespace {

constexpr size_t kHeaderBytes = 4 + 4 + 8 + 1;
constexpr uint8_t kPut = 1;
constexpr uint8_t kRemove = 2;
constexpr uint8_t kMove = 3;  // on disk like kPut; the copy of a record that lives elsewhere
// Above this many dead bytes for each live one, the oldest segment is worth copying.
constexpr size_t kDiskPerLiveMax = 3;

Error SystemError(const std::string& what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {full ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
          what + ": " + std::strerror(error)};
}

void AppendRecord(std::string* out, uint64_t id, uint8_t kind, std::string_view payload) {
  ByteWriter body;
  body.U32(static_cast<uint32_t>(payload.size()));
  body.U64(id);
  body.U8(kind == kMove ? kPut : kind);
  std::string bytes = body.Take();
  bytes.append(payload);
  ByteWriter crc;
  crc.U32(Crc32(bytes));
  out->append(crc.bytes());
  out->append(bytes);
}

struct RawRecord {
  uint64_t id = 0;
  uint8_t kind = 0;
  std::string_view payload;
};

// The record at the front of `bytes`; false at the end of what is readable.
bool ParseRecord(std::string_view bytes, RawRecord* record) {
  if (bytes.size() < kHeaderBytes) return false;
  ByteReader header(bytes.substr(0, kHeaderBytes));
  const uint32_t crc = header.U32();
  const uint32_t size = header.U32();
  record->id = header.U64();
  record->kind = header.U8();
  if (size > SegmentLog::kRecordBytesMax || size > bytes.size() - kHeaderBytes) return false;
  if (record->kind != kPut && record->kind != kRemove) return false;
  if (Crc32(bytes.substr(4, kHeaderBytes - 4 + size)) != crc) return false;
  record->payload = bytes.substr(kHeaderBytes, size);
  return true;
}

Status WriteFully(int fd, std::string_view bytes, size_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("journal: write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<size_t>(n);
  }
  return {};
}

Result<std::string> ReadRange(const std::string& path, size_t offset, size_t size) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return SystemError("journal: open " + path, errno);
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n =
        pread(file.get(), bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("journal: read " + path, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

Result<std::unique_ptr<SegmentLog>> SegmentLog::Open(Options options) {
  std::unique_ptr<SegmentLog> log(new SegmentLog(std::move(options)));
  CARILLON_TRY(log->Load());
  return log;
}

SegmentLog::~SegmentLog() {
  for (const std::string& spare : spares_) unlink(spare.c_str());
  if (active_.open() && !segments_.empty()) {
    // Gives the unused rest back; a failure only wastes space until the next Open.
    static_cast<void>(!ftruncate(active_.get(), static_cast<off_t>(segments_.back().used)));
  }
}

std::string SegmentLog::PathOf(uint64_t number) const {
  return fmt::format("{}/{:012}.log", options_.directory, number);
}

SegmentLog::Segment* SegmentLog::Find(uint64_t number) {
  const auto found = std::lower_bound(
      segments_.begin(), segments_.end(), number,
      [](const Segment& segment, uint64_t wanted) { return segment.number < wanted; });
  return found == segments_.end() || found->number != number ? nullptr : &*found;
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
  DropDeadSegments();
  return {};
}

Status SegmentLog::LoadSegment(uint64_t number) {
  struct stat info {};
  if (stat(PathOf(number).c_str(), &info) != 0) return SystemError("journal: stat", errno);
  CARILLON_ASSIGN_OR_RETURN(const std::string bytes,
                            ReadRange(PathOf(number), 0, static_cast<size_t>(info.st_size)));
  segments_.push_back({.number = number});
  size_t offset = 0;
  RawRecord record;
  while (ParseRecord(std::string_view(bytes).substr(offset), &record)) {
    const size_t size = record.payload.size();
    next_id_ = std::max(next_id_, record.id + 1);
    Forget(record.id);
    if (record.kind == kPut) {
      Settle({record.id, kPut, std::string(record.payload)}, {number, offset, size});
    }
    offset += kHeaderBytes + size;
  }
  const bool torn = bytes.find_first_not_of('\0', offset) != std::string::npos;
  if (torn) ++corrupt_segments_;
  segments_.back().used = offset;
  disk_bytes_ += offset;
  // What follows the last good record was preallocated or torn. A torn tail is kept for a person.
  if (!torn && truncate(PathOf(number).c_str(), static_cast<off_t>(offset)) != 0) {
    return SystemError("journal: truncate", errno);
  }
  return {};
}

void SegmentLog::Forget(RecordId id) {
  const auto found = index_.find(id);
  if (found == index_.end()) return;
  if (Segment* segment = Find(found->second.segment)) --segment->live;
  live_bytes_ -= found->second.payload_size;
  index_.erase(found);
}

void SegmentLog::Settle(const Pending& record, const Place& place) {
  if (record.kind == kRemove) return;
  if (record.kind == kMove) Forget(record.id);
  index_[record.id] = place;
  live_bytes_ += place.payload_size;
  Segment* segment = Find(place.segment);
  ++segment->live;
  segment->ids.push_back(record.id);
}

Status SegmentLog::ForEach(const std::function<void(RecordId, std::string_view)>& visit) {
  std::vector<RecordId> ids;
  ids.reserve(index_.size());
  for (const auto& [id, place] : index_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const RecordId id : ids) {
    CARILLON_ASSIGN_OR_RETURN(const std::string payload, Read(id));
    visit(id, payload);
  }
  return {};
}

Result<std::string> SegmentLog::Read(RecordId id) {
  const auto found = index_.find(id);
  if (found == index_.end()) return {ErrorCode::kNotFound, fmt::format("journal: record {}", id)};
  const Place& place = found->second;
  CARILLON_ASSIGN_OR_RETURN(const std::string bytes, ReadRange(PathOf(place.segment), place.offset,
                                                               kHeaderBytes + place.payload_size));
  RawRecord record;
  if (!ParseRecord(bytes, &record) || record.id != id) {
    return {ErrorCode::kCorrupt,
            fmt::format("journal: record {} in {}", id, PathOf(place.segment))};
  }
  return std::string(record.payload);
}

Result<SegmentLog::RecordId> SegmentLog::Append(std::string payload) {
  if (payload.size() > kRecordBytesMax) {
    return {ErrorCode::kExhausted, fmt::format("journal: record of {} bytes", payload.size())};
  }
  const size_t held = live_bytes_ + pending_bytes_ + payload.size();
  if (held > options_.bytes_max) {
    return {ErrorCode::kExhausted,
            fmt::format("journal {}: {} bytes live", options_.directory, live_bytes_)};
  }
  const RecordId id = next_id_++;
  pending_bytes_ += payload.size();
  pending_.push_back({id, kPut, std::move(payload)});
  return id;
}

void SegmentLog::Remove(RecordId id) {
  if (index_.count(id) > 0) {
    Forget(id);
    pending_.push_back({id, kRemove, {}});
    return;
  }
  const auto waiting = std::find_if(pending_.begin(), pending_.end(), [id](const Pending& record) {
    return record.id == id && record.kind == kPut;
  });
  if (waiting == pending_.end()) return;
  pending_bytes_ -= waiting->payload.size();
  pending_.erase(waiting);
}

Status SegmentLog::Commit() {
  CARILLON_TRY(WritePending());
  DropDeadSegments();
  // A failed copy is no failure of this commit: what it copies is safe where it is.
  if (!CompactOldest().ok()) {
    pending_.erase(std::remove_if(pending_.begin(), pending_.end(),
                                  [](const Pending& record) { return record.kind == kMove; }),
                   pending_.end());
  }
  return {};
}

Status SegmentLog::WritePending() {
  size_t next = 0;
  Status status;
  while (next < pending_.size() && status.ok()) status = WriteChunk(&next);
  for (size_t i = 0; i < next; ++i) {
    if (pending_[i].kind == kPut) pending_bytes_ -= pending_[i].payload.size();
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(next));
  return status;
}

// Makes durable what fits into the active segment, from pending_[*next] on.
Status SegmentLog::WriteChunk(size_t* next) {
  const size_t first_bytes = kHeaderBytes + pending_[*next].payload.size();
  if (!active_.open() || segments_.back().used + first_bytes > segments_.back().allocated) {
    CARILLON_TRY(OpenActive());
  }
  Segment& segment = segments_.back();
  std::string chunk;
  std::vector<Place> places;
  size_t end = *next;
  for (; end < pending_.size(); ++end) {
    const Pending& record = pending_[end];
    const size_t offset = segment.used + chunk.size();
    if (offset + kHeaderBytes + record.payload.size() > segment.allocated) break;
    places.push_back({segment.number, offset, record.payload.size()});
    AppendRecord(&chunk, record.id, record.kind, record.payload);
  }
  Status status = WriteFully(active_.get(), chunk, segment.used);
  if (status.ok() && fdatasync(active_.get()) != 0) {
    status = SystemError("journal: fdatasync", errno);
  }
  if (!status.ok()) {
    SealBroken();
    return status;
  }
  for (size_t i = *next; i < end; ++i) Settle(pending_[i], places[i - *next]);
  segment.used += chunk.size();
  disk_bytes_ += chunk.size();
  *next = end;
  return {};
}

// After a failed write or sync nothing is known about the tail: it is cut and never used again.
void SegmentLog::SealBroken() {
  static_cast<void>(!ftruncate(active_.get(), static_cast<off_t>(segments_.back().used)));
  active_.Close();
}

Status SegmentLog::OpenActive() {
  if (active_.open()) SealBroken();
  if (spares_.empty()) {
    CARILLON_ASSIGN_OR_RETURN(std::string made, CreateSpare());
    spares_.push_back(std::move(made));
  }
  const uint64_t number = next_segment_;
  if (rename(spares_.back().c_str(), PathOf(number).c_str()) != 0) {
    return SystemError("journal: rename", errno);
  }
  spares_.pop_back();
  ++next_segment_;
  CARILLON_TRY(SyncDirectory());
  FileDescriptor file(open(PathOf(number).c_str(), O_RDWR | O_CLOEXEC));
  if (!file.open()) return SystemError("journal: open", errno);
  active_ = std::move(file);
  segments_.push_back({.number = number, .allocated = options_.segment_bytes});
  return {};
}

Result<std::string> SegmentLog::CreateSpare() {
  const std::string path = fmt::format("{}/spare-{}", options_.directory, next_spare_++);
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.open()) return SystemError("journal: create " + path, errno);
  const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(options_.segment_bytes));
  if (error != 0 || fsync(file.get()) != 0) {
    const int cause = error != 0 ? error : errno;
    unlink(path.c_str());
    return SystemError("journal: preallocate " + path, cause);
  }
  return path;
}

Status SegmentLog::SyncDirectory() {
  FileDescriptor directory(open(options_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.open() || fsync(directory.get()) != 0) {
    return SystemError("journal: sync " + options_.directory, errno);
  }
  return {};
}

void SegmentLog::DropDeadSegments() {
  while (!segments_.empty() && segments_.front().live == 0) {
    const bool active = active_.open() && segments_.size() == 1;
    if (active) return;
    unlink(PathOf(segments_.front().number).c_str());
    disk_bytes_ -= segments_.front().used;
    segments_.pop_front();
  }
}

Status SegmentLog::CompactOldest() {
  if (segments_.size() < 3) return {};
  if (disk_bytes_ <= kDiskPerLiveMax * live_bytes_ + 2 * options_.segment_bytes) return {};
  const Segment& oldest = segments_.front();
  for (const RecordId id : oldest.ids) {
    const auto found = index_.find(id);
    if (found == index_.end() || found->second.segment != oldest.number) continue;
    CARILLON_ASSIGN_OR_RETURN(std::string payload, Read(id));
    pending_.push_back({id, kMove, std::move(payload)});
  }
  CARILLON_TRY(WritePending());
  DropDeadSegments();
  return {};
}

// What the active segment and the spares still take for certain: a record does not straddle two
// segments, so the end of each may be lost.
size_t SegmentLog::ReservedCapacity() const {
  const size_t usable = options_.segment_bytes - std::min(options_.segment_bytes, kRecordBytesMax);
  size_t capacity = spares_.size() * usable;
  if (active_.open()) {
    const size_t left = segments_.back().allocated - segments_.back().used;
    capacity += left > kRecordBytesMax ? left - kRecordBytesMax : 0;
  }
  return capacity;
}

Status SegmentLog::Reserve(size_t bytes) {
  const size_t overhead = kHeaderBytes * pending_.size();
  while (ReservedCapacity() < reserved_bytes_ + bytes + pending_bytes_ + overhead) {
    CARILLON_ASSIGN_OR_RETURN(std::string spare, CreateSpare());
    spares_.push_back(std::move(spare));
  }
  reserved_bytes_ += bytes;
  return {};
}

void SegmentLog::Unreserve(size_t bytes) { reserved_bytes_ -= std::min(bytes, reserved_bytes_); }

}  // namespace carillon::executor
