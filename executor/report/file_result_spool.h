// ResultSpool in files: results of in-process attempts that are not applied yet.
//
// Place    Step 9 of docs/life-of-a-run.md; promise P6.
// Threads  Not thread-safe: Load before the loops run, then the report loop alone.
// Owns     Its directory (segment_log.h); in memory only the ids of the results it holds.
// Errors   Append: kExhausted above bytes_max or without space on the device, kUnavailable for
//          other disk failures; then none of the batch counts as appended.
// Always   Results that Append accepted are returned by Load after kill -9 or a power cut, until
//          Remove. A removed result may reappear after a crash, and is then reported once more.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "common/base/metrics/metrics.h"
#include "common/ports/executor_host.h"
#include "executor/journal/segment_log.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class FileResultSpool : public ResultSpool {
 public:
  struct Options {
    std::string directory;  // created when missing; its parent must exist
    size_t bytes_max = 256u << 20;
  };
  // Logs and counts what it cannot read: records of another version, and segments with a torn or
  // corrupt tail. They stay on disk.
  static Result<std::unique_ptr<FileResultSpool>> Open(const Options& options, Metrics& metrics);

  Status Append(const std::vector<AttemptEnded>& results) override;
  Status Remove(const std::vector<HeldAttempt>& applied) override;
  Result<std::vector<AttemptEnded>> Load() override;

 private:
  explicit FileResultSpool(std::unique_ptr<SegmentLog> log) : log_(std::move(log)) {}

  const std::unique_ptr<SegmentLog> log_;
  std::unordered_map<AttemptId, SegmentLog::RecordId, AttemptIdHash> records_;
  size_t removals_ = 0;    // since the last commit
  size_t unreadable_ = 0;  // as of Load
};

}  // namespace carillon::executor
