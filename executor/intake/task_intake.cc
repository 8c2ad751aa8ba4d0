#include "executor/intake/task_intake.h"

#include <iterator>
#include <utility>

#include "common/base/log.h"

namespace carillon::executor {

std::vector<TaskMessage> TaskIntake::Take(size_t records_max, WallTime now) {
  if (records_max == 0) return {};
  const Result<std::vector<ReceivedRecord>> records = ports_.bus.Poll(records_max);
  if (!records.ok()) {
    log::Debug("intake", "poll: {}", records.error().message);
    return {};
  }
  if (records->empty()) return {};
  std::vector<TaskMessage> tasks;
  const std::vector<std::string> keys = ports_.public_keys();
  for (const ReceivedRecord& received : *records) {
    OpenedTasks opened =
        OpenTasks(received.record, options_.executor, options_.incarnation, now, keys);
    if (opened.rejection != Rejection::kNone) {
      Count(opened.rejection);
      continue;
    }
    for (UnreadableTask& one : opened.unreadable) {
      CountUnreadable(one.error);
      if (one.rest) tasks.push_back(*std::move(one.rest));
    }
    tasks.insert(tasks.end(), std::make_move_iterator(opened.tasks.begin()),
                 std::make_move_iterator(opened.tasks.end()));
  }
  const Status committed = ports_.bus.Commit(*records);
  // After a failed commit the records are delivered again, which is harmless: claims decide
  // what runs.
  if (!committed.ok()) log::Debug("intake", "commit: {}", committed.error().message);
  return tasks;
}

void TaskIntake::Count(Rejection rejection) {
  if (rejection == Rejection::kOtherExecutor) return;
  ports_.metrics.counter("carillon_rejected_messages_total", Name(rejection)).Add();
  if (logged_.insert(rejection).second) {
    log::Warn("intake", "rejected a task bundle: {} (further ones are only counted)",
              Name(rejection));
  }
}

void TaskIntake::CountUnreadable(const Error& error) {
  ports_.metrics.counter("carillon_rejected_messages_total", Name(Rejection::kCorrupt)).Add();
  if (!std::exchange(unreadable_logged_, true)) {
    log::Warn("intake", "a task cannot be read: {} (further ones are only counted)", error.message);
  }
}

}  // namespace carillon::executor
