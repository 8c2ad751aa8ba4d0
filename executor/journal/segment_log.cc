#include "executor/journal/segment_log.h"

#include <unistd.h>

#include <fmt/format.h>

#include "executor/journal/segment_loader.h"

namespace carillon::executor {
namespace {

constexpr size_t kLogBytesMax = 64u << 10;

}  // namespace

Result<std::unique_ptr<SegmentLog>> SegmentLog::Open(Options options,
                                                     std::unique_ptr<JournalDevice> device) {
  CARILLON_CHECK(options.segment_bytes > kRecordBytesMax, "journal: segments too small");
  std::unique_ptr<SegmentLog> log(new SegmentLog(std::move(options), std::move(device)));
  CARILLON_ASSIGN_OR_RETURN(const LoadedSegments loaded,
                            LoadSegments(log->options_.directory, *log->device_, &log->index_));
  log->next_id_ = loaded.last_id + 1;
  log->corrupt_segments_ = loaded.corrupt_segments;
  CARILLON_TRY(log->orders_.DeleteDead());
  return log;
}

SegmentLog::SegmentLog(Options options, std::unique_ptr<JournalDevice> device)
    : options_(std::move(options)),
      device_(std::move(device)),
      room_(options_.segment_bytes, index_, changes_),
      reads_(options_.directory, index_),
      orders_(options_.directory, options_.segment_bytes,
              {.device = *device_,
               .index = index_,
               .changes = changes_,
               .room = room_,
               .reads = reads_,
               .errands = errands_}) {}

SegmentLog::~SegmentLog() {
  orders_.AwaitDevice();
  // The result is ignored: these lines are only messages.
  const std::string& lines = errands_.log;
  if (!lines.empty()) static_cast<void>(!write(STDERR_FILENO, lines.data(), lines.size()));
}

Result<SegmentLog::RecordId> SegmentLog::Append(std::string payload) {
  if (payload.size() > kRecordBytesMax) {
    return {ErrorCode::kExhausted, fmt::format("journal: record of {} bytes", payload.size())};
  }
  const size_t held = index_.live_bytes() + changes_.unindexed_bytes() + payload.size();
  if (held > options_.bytes_max) {
    return {ErrorCode::kExhausted,
            fmt::format("journal {}: {} bytes live", options_.directory, index_.live_bytes())};
  }
  const RecordId id = next_id_++;
  changes_.Add({.id = id, .payload = std::move(payload)});
  return id;
}

void SegmentLog::Remove(RecordId id) {
  if (index_.Find(id) == nullptr) return changes_.Withdraw(id);
  changes_.Add({.id = id, .kind = RecordKind::kRemove});
  index_.Forget(id, changes_.last());
}

Status SegmentLog::Commit() {
  const Position target = last();
  while (synced() < target) {
    WantSync(target);
    CARILLON_TRY(Step());
    orders_.AwaitDevice();
  }
  return {};
}

Result<bool> SegmentLog::Reserve(size_t bytes) {
  for (;;) {
    CARILLON_ASSIGN_OR_RETURN(const bool reserved, room_.Reserve(bytes));
    if (reserved) return true;
    if (!orders_.CreateSpare()) return false;
  }
}

std::optional<Result<std::string>> SegmentLog::TryRead(RecordId id) {
  if (const RecordPlace* place = index_.Find(id)) return reads_.Take(id, *place);
  if (const std::string* payload = changes_.FindPayload(id)) return *payload;
  return Result<std::string>(ErrorCode::kNotFound, fmt::format("journal: record {}", id));
}

Result<std::string> SegmentLog::Read(RecordId id) {
  for (;;) {
    if (auto result = TryRead(id)) return *std::move(result);
    static_cast<void>(Step().ok());  // a failed write must not prevent reading
    orders_.AwaitDevice();
  }
}

Status SegmentLog::ForEach(const std::function<void(RecordId, std::string_view)>& visit) {
  for (const RecordId id : index_.Ids()) {
    CARILLON_ASSIGN_OR_RETURN(const std::string payload, Read(id));
    visit(id, payload);
  }
  reads_.Drop();
  return {};
}

void SegmentLog::Log(std::string_view line) {
  std::string& lines = errands_.log;
  if (lines.size() + line.size() + 1 > kLogBytesMax) return;
  lines.append(line);
  lines.push_back('\n');
}

}  // namespace carillon::executor
