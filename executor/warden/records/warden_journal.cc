#include "executor/warden/records/warden_journal.h"

#include "executor/journal/attempt_codec.h"

namespace carillon::executor {
namespace {

constexpr uint8_t kStartRecord = 'S';
constexpr uint8_t kEndRecord = 'E';
// Size of the record of an end without the output: names, texts, markers, and the outputs with the
// lengths of their names and values.
constexpr size_t kEndOverheadBytes = 4096 + kOutputsBytesMax + 8 * kOutputsMax;
constexpr size_t kHeadroomBytes = 4u << 20;

size_t ReserveFor(size_t output_bytes_max) { return 2 * output_bytes_max + kEndOverheadBytes; }

bool ReadRecord(SegmentLog::RecordId id, std::string_view bytes,
                WardenJournal::Contents* contents) {
  ByteReader in(bytes);
  const uint8_t kind = in.U8();
  if (kind == kStartRecord) {
    if (in.U32() != kAttemptCodecVersion) return false;
    OpenStart start;
    start.attempt = GetHeld(in);
    start.job_id = JobId(in.Text());
    start.started = FromUnixMicros(in.I64());
    start.record = id;
    if (in.U8() != 0) {
      start.container.emplace();
      start.container->engine = in.Text();
      start.container->warden_id = in.Text();
    }
    if (in.Finished()) contents->open_starts.push_back(std::move(start));
    return in.Finished();
  }
  if (kind != kEndRecord) return false;
  const AttemptEnded ended = GetStoredEnd(in);
  if (in.Finished()) contents->ends.push_back({ended.attempt, id});
  return in.Finished();
}

}  // namespace

Result<std::unique_ptr<WardenJournal>> WardenJournal::Open(const std::string& directory,
                                                           size_t bytes_max,
                                                           std::unique_ptr<JournalDevice> device,
                                                           Contents* contents) {
  // The limit applies to starts only, because an end must always find space.
  CARILLON_ASSIGN_OR_RETURN(
      std::unique_ptr<SegmentLog> log,
      SegmentLog::Open({.directory = directory, .bytes_max = SIZE_MAX}, std::move(device)));
  contents->unreadable = log->corrupt_segments();
  CARILLON_TRY(log->ForEach([contents](SegmentLog::RecordId id, std::string_view bytes) {
    if (!ReadRecord(id, bytes, contents)) ++contents->unreadable;
  }));
  return std::unique_ptr<WardenJournal>(new WardenJournal(std::move(log), bytes_max));
}

Result<std::optional<SegmentLog::RecordId>> WardenJournal::PrepareStart(const StartAttempt& start,
                                                                        WallTime now, Asked asked) {
  const size_t reserve = ReserveFor(start.output_bytes_max);
  if (log_->index().live_bytes() > bytes_max_) {
    return {ErrorCode::kExhausted, "too many results are waiting for the scheduler"};
  }
  if (asked == Asked::kFirst) log_->ForgetRefusal();
  Result<bool> reserved = log_->Reserve(reserve);
  if (!reserved.ok() && headroom_) {
    log_->Unreserve(kHeadroomBytes);
    headroom_ = false;
    reserved = log_->Reserve(reserve);
  }
  if (!reserved.ok()) return reserved.error();
  if (!*reserved) return std::optional<SegmentLog::RecordId>();
  ByteWriter out;
  out.U8(kStartRecord);
  out.U32(kAttemptCodecVersion);
  PutHeld(out, start.attempt);
  out.Text(start.job_id.value());
  out.I64(ToUnixMicros(now));
  out.U8(start.container ? 1 : 0);
  if (start.container) {
    out.Text(start.container->engine);
    out.Text(warden_id_);
  }
  const Result<SegmentLog::RecordId> record = log_->Append(out.Take());
  if (record.ok()) return std::optional(*record);
  log_->Unreserve(reserve);
  return record.error();
}

Result<SegmentLog::RecordId> WardenJournal::PrepareEnd(const AttemptEnded& ended,
                                                       SegmentLog::RecordId start) {
  ByteWriter out;
  out.U8(kEndRecord);
  PutStoredEnd(out, ended);
  CARILLON_ASSIGN_OR_RETURN(const SegmentLog::RecordId record, log_->Append(out.Take()));
  if (start != 0) log_->Remove(start);
  return record;
}

void WardenJournal::ReleaseReserve(size_t output_bytes_max) {
  log_->Unreserve(ReserveFor(output_bytes_max));
}

std::optional<Result<AttemptEnded>> WardenJournal::ReadEnd(SegmentLog::RecordId record) {
  const std::optional<Result<std::string>> bytes = log_->TryRead(record);
  if (!bytes) return std::nullopt;
  if (!bytes->ok()) return Result<AttemptEnded>(bytes->error());
  ByteReader in(**bytes);
  const bool known = in.U8() == kEndRecord;
  AttemptEnded ended = GetStoredEnd(in);
  if (!known || !in.Finished()) {
    return Result<AttemptEnded>(ErrorCode::kCorrupt, "warden: end of an attempt");
  }
  return Result<AttemptEnded>(std::move(ended));
}

Result<bool> WardenJournal::EnsureHeadroom() {
  if (log_->index().live_bytes() > bytes_max_ / 4 * 3) {
    return {ErrorCode::kExhausted, "too many results are waiting for the scheduler"};
  }
  if (headroom_ && log_->short_of_room()) {  // a write failed: leave the space to the ends
    log_->Unreserve(kHeadroomBytes);
    headroom_ = false;
  }
  if (headroom_) return true;
  CARILLON_ASSIGN_OR_RETURN(headroom_, log_->Reserve(kHeadroomBytes));
  return headroom_;
}

}  // namespace carillon::executor
