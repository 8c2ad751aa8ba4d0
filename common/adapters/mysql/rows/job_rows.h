// Rows of jobs and job_versions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/rows/job_filter.h"
#include "common/adapters/mysql/rows/schedule_rows.h"
#include "common/domain/run_state.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

using LockedJobs = std::map<JobNo, JobRow>;

// Adds the rows of `jobs`, locked in share mode, to `locked`. Absent ones are absent.
Status LockJobs(Session& session, std::vector<JobNo> jobs, LockedJobs* locked);

// A job's row with the definition of its version.
struct StoredJobRow {
  JobNo job_no;
  JobId job_id;
  SegmentId segment;
  int64_t version = 1;
  ScheduleId manual_schedule;  // the pseudo schedule of manual runs
  bool deleted = false;
  // False: the definition cannot be read; only its `enabled`, `overlap_policy` and `name` are set.
  bool readable = true;
  JobDefinition definition = {};
  std::string pause_reason = {};
  WallTime created = WallTime{};
  WallTime updated = WallTime{};
};

JobRow ToJobRow(const StoredJobRow& job);

enum class JobLock { kShare, kUpdate };
// kNotFound when there is none or it is deleted. May be unreadable: see MustBeReadable.
Result<StoredJobRow> LockLiveJob(Session& session, const JobId& id, JobLock lock);
// kCorrupt for a job whose definition is needed and cannot be read.
Status MustBeReadable(const StoredJobRow& job);
// By number, deleted or not, in share mode. kCorrupt.
Result<StoredJobRow> LockJob(Session& session, JobNo job_no);

Status InsertJob(Session& session, const StoredJobRow& job, const std::string& actor);
// As InsertJob, of many by two statements.
Status InsertJobs(Session& session, const std::vector<StoredJobRow>& jobs,
                  const std::string& actor);
// Everything but the ids, and a new row of job_versions. Of an unreadable job only the version and
// `deleted` change; its definition is kept as it is.
Status UpdateJob(Session& session, const StoredJobRow& job, const std::string& actor);

struct JobsRead {
  std::vector<StoredJob> jobs;
  size_t left_out = 0;  // unreadable
};
// The jobs that `where` (on a table called j) leaves, in that order, at most `limit`. Fewer than
// that are all there are; those that cannot be read are left out.
Result<JobsRead> ReadJobs(Session& session, const std::string& where, const Params& params,
                          size_t limit, const JobOrdering& ordering = {});

// A DATETIME column as microseconds since 1970.
std::string FromTime(std::string_view column);

// Definitions by version, with the job's id; unknown ones are absent. No locks.
Result<std::vector<JobVersionRecord>> ReadDefinitions(Session& session,
                                                      const std::vector<JobVersionKey>& keys);

}  // namespace carillon::mysql
