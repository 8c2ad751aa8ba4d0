#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

PendingRun ToPendingRun(const RunRow& row, Epoch epoch) {
  PendingRun run{.key = row.key,
                 .job_no = row.job_no,
                 .segment = row.segment,
                 .epoch = epoch,
                 .attempt = row.attempt,
                 .def_version = row.def_version,
                 .due = row.due,
                 .priority = row.priority,
                 .kind = row.kind,
                 .flags = row.flags,
                 .shard_total = row.shard_total};
  if (!row.pinned_executor.empty() || !row.rules.empty()) {
    run.extras = std::make_shared<const RunExtras>(
        RunExtras{.pinned_executor = row.pinned_executor, .rules = row.rules});
  }
  return run;
}

const std::string& RulesOf(const PendingRun& run) {
  static const std::string kNone;
  return run.extras == nullptr ? kNone : run.extras->rules;
}

}  // namespace carillon::scheduler
