#include "executor/report/file_result_spool.h"

#include "common/base/log.h"
#include "executor/journal/attempt_codec.h"

namespace carillon::executor {
namespace {

// Removals are usually written with the next append. At this number they do not wait for an append.
constexpr size_t kRemovalsMax = 4096;

}  // namespace

Result<std::unique_ptr<FileResultSpool>> FileResultSpool::Open(const Options& options,
                                                               Metrics& metrics) {
  CARILLON_ASSIGN_OR_RETURN(
      auto log, SegmentLog::Open({.directory = options.directory, .bytes_max = options.bytes_max}));
  std::unique_ptr<FileResultSpool> spool(new FileResultSpool(std::move(log)));
  CARILLON_TRY(spool->Load());
  metrics.gauge("carillon_unreadable_records", "spool")
      .Set(static_cast<double>(spool->unreadable_));
  if (spool->unreadable_ > 0) {
    log::Error("executor",
               "spool: {} places in {} cannot be read by this version; they stay there, but the "
               "results in them are not reported",
               spool->unreadable_, options.directory);
  }
  return spool;
}

Status FileResultSpool::Append(const std::vector<AttemptEnded>& results) {
  std::vector<SegmentLog::RecordId> appended;
  Status status;
  for (const AttemptEnded& ended : results) {
    if (records_.count(IdOf(ended.attempt)) > 0) {
      appended.push_back(0);  // already in the spool
      continue;
    }
    ByteWriter out;
    PutStoredEnd(out, ended);
    const Result<SegmentLog::RecordId> record = log_->Append(out.Take());
    if (!record.ok()) {
      status = record.error();
      break;
    }
    appended.push_back(*record);
  }
  if (status.ok()) status = log_->Commit();
  if (!status.ok()) {
    for (const SegmentLog::RecordId record : appended) {
      if (record != 0) log_->Remove(record);
    }
    return status;
  }
  removals_ = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (appended[i] != 0) records_[IdOf(results[i].attempt)] = appended[i];
  }
  return {};
}

Status FileResultSpool::Remove(const std::vector<HeldAttempt>& applied) {
  for (const HeldAttempt& held : applied) {
    const auto found = records_.find(IdOf(held));
    if (found == records_.end()) continue;
    log_->Remove(found->second);
    records_.erase(found);
    ++removals_;
  }
  if (removals_ < kRemovalsMax && !(records_.empty() && removals_ > 0)) return {};
  removals_ = 0;
  return log_->Commit();
}

Result<std::vector<AttemptEnded>> FileResultSpool::Load() {
  std::vector<AttemptEnded> results;
  records_.clear();
  unreadable_ = log_->corrupt_segments();
  CARILLON_TRY(log_->ForEach([&](SegmentLog::RecordId id, std::string_view bytes) {
    ByteReader in(bytes);
    AttemptEnded ended = GetStoredEnd(in);
    if (!in.Finished()) {
      ++unreadable_;
      return;
    }
    records_[IdOf(ended.attempt)] = id;
    results.push_back(std::move(ended));
  }));
  return results;
}

}  // namespace carillon::executor
