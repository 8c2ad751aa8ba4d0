// The port JobStore in memory: jobs and their schedules.
//
// Always   Every write advances the version of the job, of its schedules and of its unclaimed runs
//          together, because claims and plans compare these versions (P8 of docs/semantics.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/ports/store/job_store.h"
#include "tests/twins/memory_counts.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryJobStore final : public JobStore {
 public:
  explicit MemoryJobStore(MemoryTables& tables) : tables_(tables) {}

  Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                              const WriteContext& context) override;
  Result<StoredJobs> CreateJobs(const NewJobs& jobs, const WriteContext& context) override;
  Result<StoredJob> GetJob(const JobId& id) override;
  Result<FoundJobs> FindJobs(const JobKeys& keys) override;
  Result<JobHead> GetJobHead(const JobId& id) override;
  Result<JobPage> ListJobs(const JobFilter& filter) override;
  Result<BoundedCount> CountJobs(const JobFilter& filter) override;
  Result<std::vector<std::string>> ListNamespaces(const std::string& after, size_t limit) override;
  Result<BoundedCount> CountNamespaces() override { return Bounded(ListNamespaces("", kOneMore)); }
  Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                               size_t limit) override;
  Result<BoundedCount> CountVersions(const JobId& id) override {
    return Bounded(ListVersions(id, INT64_MAX, kOneMore));
  }
  Result<StoredJob> ReplaceJob(const JobId& id, int64_t expected_version,
                               const JobDefinition& definition,
                               const WriteContext& context) override;
  Result<StoredJob> PauseJob(const JobId& id, const std::string& reason,
                             const WriteContext& context) override;
  Result<StoredJob> ResumeJob(const JobId& id, const std::string& reason,
                              const WriteContext& context) override;
  Result<JobDependencies> ListDependencies(const JobId& id) override;
  Status DeleteJob(const JobId& id, int64_t expected_version, const WriteContext& context) override;

  // Pauses an enabled job. The caller holds the lock of the tables.
  void PauseEnabled(JobEntry& job, const std::string& reason, const WriteContext& context)
      REQUIRES(tables_.mu);

 private:
  Result<JobEntry*> FindAtVersion(const JobId& id, int64_t version) REQUIRES(tables_.mu);
  StoredJob ToStored(const JobEntry& job) const REQUIRES(tables_.mu);
  // The numbers of a new job, and the first of those of its schedules.
  struct Numbers {
    uint64_t job = 0;
    uint64_t schedule = 0;
  };
  StoredJob AddJob(const NewJob& wanted, const Numbers& numbers, const WriteContext& context)
      REQUIRES(tables_.mu);
  ScheduleId AddSchedule(const JobEntry& job, ScheduleId id, const ScheduleSpec& spec, WallTime now)
      REQUIRES(tables_.mu);
  void NextVersion(JobEntry& job, const WriteContext& context) REQUIRES(tables_.mu);
  void TouchSchedules(const JobEntry& job) REQUIRES(tables_.mu);
  void RemoveSchedule(const JobEntry& job, ScheduleId id, GapReason reason, WallTime now)
      REQUIRES(tables_.mu);
  void ReplaceSchedules(JobEntry& job, const JobDefinition& old, uint64_t first_new,
                        const WriteContext& context) REQUIRES(tables_.mu);
  void Pause(JobEntry& job, const std::string& reason, WallTime now) REQUIRES(tables_.mu);
  void Resume(JobEntry& job, WallTime now) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
