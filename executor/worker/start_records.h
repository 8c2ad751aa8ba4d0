// The starts of functions on disk, each until its result is in the database. After a restart of the
// daemon they say which process has which attempt, so that the death of a process is known as the
// end of its attempts.
//
// Threads  Not thread-safe; the runner's thread.
// Errors   Save: kExhausted without space, kUnavailable for other failures of the disk; then none
//          is written.
// Always   A record that Save accepted survives kill -9 and a power cut.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/journal/segment_log.h"
#include "executor/worker/worker_table.h"

namespace carillon::executor {

class StartRecords {
 public:
  static Result<std::unique_ptr<StartRecords>> Open(const std::string& directory);

  Result<std::vector<StartRecord>> Load();
  // Writes records, then removes others, which may be among those that were just written. A removal
  // is on disk with the next write. A record that reappears after a crash is reported as lost,
  // which changes nothing.
  Status Save(const std::vector<StartRecord>& records, const std::vector<AttemptId>& removals);

 private:
  explicit StartRecords(std::unique_ptr<SegmentLog> log) : log_(std::move(log)) {}
  Status Write(const std::vector<StartRecord>& records);
  void Remove(const std::vector<AttemptId>& ids);

  const std::unique_ptr<SegmentLog> log_;
  std::map<AttemptId, SegmentLog::RecordId> records_;
};

}  // namespace carillon::executor
