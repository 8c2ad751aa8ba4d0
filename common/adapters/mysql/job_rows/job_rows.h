// Rows of jobs and job_versions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/job_rows/job_filter.h"
#include "common/adapters/mysql/job_rows/schedule_rows.h"
#include "common/domain/nodes/node_groups.h"
#include "common/domain/run/run_state.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

using LockedJobs = std::map<JobNo, JobRow>;

// Locks the rows of `jobs` in share mode and adds them to `locked`. Jobs that do not exist
// are left out.
Status LockJobs(Session& session, std::vector<JobNo> jobs, LockedJobs* locked);

// A job's row with the definition of its version.
struct StoredJobRow {
  JobNo job_no;
  JobId job_id;
  SegmentId segment;
  int64_t version = 1;
  ScheduleId manual_schedule;  // the pseudo schedule to which manual runs belong
  bool deleted = false;
  GroupNo group = {};           // the number of definition.concurrency_group
  bool has_dependents = false;  // only RaiseDependentsFlag changes it
  bool waited = false;          // when it was read; for an unreadable definition
  // False: the definition cannot be read; only its `enabled`, `overlap_policy`, `max_running`,
  // `queue_max`, `name`, `name_space`, `user_id` and `type` are set, and `problem` says why.
  bool readable = true;
  JobDefinition definition = {};
  std::string pause_reason = {}, problem = {};
  bool paused_by_failures = false;
  WallTime created = WallTime{};
  WallTime updated = WallTime{};
};

JobRow ToJobRow(const StoredJobRow& job);

enum class JobLock { kShare, kUpdate };
// Locks the job; kNotFound if it does not exist or is deleted. The returned job may be unreadable:
// see MustBeReadable.
Result<StoredJobRow> LockLiveJob(Session& session, const JobId& id, JobLock lock);
// Returns kCorrupt if the definition of the job cannot be read. Callers that need it check
// this first.
Status MustBeReadable(const StoredJobRow& job);
// Locks a job by number, deleted or not, in share mode. kCorrupt: its definition cannot be read.
Result<StoredJobRow> LockJob(Session& session, JobNo job_no);

Status InsertJob(Session& session, const StoredJobRow& job, const std::string& actor);
// Locks the rows of the groups in share mode, so that none of them is deleted before the commit,
// and returns their numbers. kInvalid, with its pointer: there is no such group.
Result<std::map<std::string, GroupNo>> LockGroupNumbers(Session& session,
                                                        const NamedGroups& groups);

// Writes everything except the ids, and a new row of job_versions. For an unreadable job only the
// version and `deleted` are written; its definition is kept unchanged.
Status UpdateJob(Session& session, const StoredJobRow& job, const std::string& actor);

struct JobsRead {
  std::vector<StoredJob> jobs;
  size_t left_out = 0;  // unreadable jobs that were skipped
};
// Reads at most `limit` jobs that match `where` (on a table with the alias j), in the given order.
// Fewer than `limit` means that there are no more. Unreadable jobs are left out, unless `ordering`
// wants them.
Result<JobsRead> ReadJobs(Session& session, const std::string& where, const Params& params,
                          size_t limit, const JobOrdering& ordering = {});

// Returns the SQL expression of a DATETIME column as microseconds since 1970.
std::string FromTime(std::string_view column);

// Reads definitions by version, with the job's id, without locks. Unknown versions are left out. Of
// a row of tasks (task_jobs.h) it reads those of the workflow, with the id of the workflow. `bytes`
// gets the sizes of their texts.
Result<std::vector<JobVersionRecord>> ReadDefinitions(Session& session,
                                                      const std::vector<JobVersionKey>& keys,
                                                      std::vector<size_t>* bytes = nullptr);

}  // namespace carillon::mysql
