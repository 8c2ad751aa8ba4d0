#include "executor/worker/start_records.h"

#include "common/base/log.h"
#include "executor/journal/attempt_codec.h"

namespace carillon::executor {
namespace {

constexpr uint32_t kVersion = 2;
constexpr uint32_t kVersionWithoutInstance = 1;
constexpr size_t kBytesMax = 64u << 20;

int64_t Microseconds(SteadyTime time) { return time.time_since_epoch().count(); }

std::string Encode(const StartRecord& record) {
  ByteWriter out;
  out.U32(kVersion);
  PutHeld(out, record.attempt);
  out.Text(record.job_id.value());
  out.Text(record.handler);
  out.I64(record.worker.process.pid);
  out.U64(record.worker.process.start_ticks);
  out.Text(record.worker.process.boot_id);
  out.I64(ToUnixMicros(record.started));
  out.I64(Microseconds(record.deadline));
  out.Text(record.worker.instance);
  out.U64(record.image);
  out.I64(Microseconds(record.begun));
  return out.Take();
}

bool Decode(std::string_view bytes, StartRecord* record) {
  ByteReader in(bytes);
  const uint32_t version = in.U32();
  if (version != kVersion && version != kVersionWithoutInstance) return false;
  record->attempt = GetHeld(in);
  record->job_id = JobId(in.Text());
  record->handler = in.Text();
  record->worker.process.pid = in.I64();
  record->worker.process.start_ticks = in.U64();
  record->worker.process.boot_id = in.Text();
  record->started = FromUnixMicros(in.I64());
  record->deadline = SteadyTime(Duration(in.I64()));
  if (version == kVersionWithoutInstance) {
    // Workers of that time are told apart by their application.
    record->worker.instance = record->handler.substr(0, record->handler.find('/'));
    return in.Finished();
  }
  record->worker.instance = in.Text();
  record->image = in.U64();
  record->begun = SteadyTime(Duration(in.I64()));
  return in.Finished();
}

}  // namespace

Result<std::unique_ptr<StartRecords>> StartRecords::Open(const std::string& directory) {
  CARILLON_ASSIGN_OR_RETURN(auto log,
                            SegmentLog::Open({.directory = directory, .bytes_max = kBytesMax}));
  return std::unique_ptr<StartRecords>(new StartRecords(std::move(log)));
}

Result<std::vector<StartRecord>> StartRecords::Load() {
  std::vector<StartRecord> found;
  records_.clear();
  size_t unreadable = 0;
  CARILLON_TRY(log_->ForEach([&](SegmentLog::RecordId id, std::string_view bytes) {
    StartRecord record;
    if (!Decode(bytes, &record)) {
      ++unreadable;
      return;
    }
    records_[IdOf(record.attempt)] = id;
    found.push_back(std::move(record));
  }));
  if (unreadable > 0) {
    log::Error(
        "worker",
        "{} records of started functions cannot be read; a person must decide about their runs",
        unreadable);
  }
  return found;
}

Status StartRecords::Save(const std::vector<StartRecord>& records,
                          const std::vector<AttemptId>& removals) {
  const Status written = records.empty() ? Status{} : Write(records);
  Remove(removals);
  return written;
}

Status StartRecords::Write(const std::vector<StartRecord>& records) {
  std::vector<SegmentLog::RecordId> written;
  Status status;
  for (const StartRecord& record : records) {
    const Result<SegmentLog::RecordId> id = log_->Append(Encode(record));
    if (!id.ok()) {
      status = id.error();
      break;
    }
    written.push_back(*id);
  }
  if (status.ok()) status = log_->Commit();
  if (!status.ok()) {
    for (const SegmentLog::RecordId id : written) log_->Remove(id);
    return status;
  }
  for (size_t i = 0; i < records.size(); ++i) records_[IdOf(records[i].attempt)] = written[i];
  return {};
}

void StartRecords::Remove(const std::vector<AttemptId>& ids) {
  for (const AttemptId& id : ids) {
    const auto found = records_.find(id);
    if (found == records_.end()) continue;
    log_->Remove(found->second);
    records_.erase(found);
  }
}

}  // namespace carillon::executor
