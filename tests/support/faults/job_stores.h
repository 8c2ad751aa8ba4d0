// The store ports of jobs and runs whose calls go through a CallGate.
#pragma once

#include <string>
#include <vector>

#include "common/ports/store/backfill_store.h"
#include "common/ports/store/group_store.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/log_store.h"
#include "common/ports/store/run_store.h"
#include "tests/support/faults/fault_store.h"

namespace carillon::test {

class FaultJobStore : public FaultStore<JobStore> {
 public:
  using FaultStore::FaultStore;
  Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                              const WriteContext& context) override {
    return Call("CreateJob", &JobStore::CreateJob, id, definition, context);
  }
  Result<StoredJobs> CreateJobs(const NewJobs& jobs, const WriteContext& context) override {
    return Call("CreateJobs", &JobStore::CreateJobs, jobs, context);
  }
  Result<StoredJob> GetJob(const JobId& id) override {
    return Call("GetJob", &JobStore::GetJob, id);
  }
  Result<FoundJobs> FindJobs(const JobKeys& keys) override {
    return Call("FindJobs", &JobStore::FindJobs, keys);
  }
  Result<JobHead> GetJobHead(const JobId& id) override {
    return Call("GetJobHead", &JobStore::GetJobHead, id);
  }
  Result<JobPage> ListJobs(const JobFilter& filter) override {
    return Call("ListJobs", &JobStore::ListJobs, filter);
  }
  Result<BoundedCount> CountJobs(const JobFilter& filter) override {
    return Call("CountJobs", &JobStore::CountJobs, filter);
  }
  Result<std::vector<std::string>> ListNamespaces(const std::string& after, size_t limit) override {
    return Call("ListNamespaces", &JobStore::ListNamespaces, after, limit);
  }
  Result<BoundedCount> CountVersions(const JobId& id) override {
    return Call("CountVersions", &JobStore::CountVersions, id);
  }
  Result<BoundedCount> CountNamespaces() override {
    return Call("CountNamespaces", &JobStore::CountNamespaces);
  }
  Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                               size_t limit) override {
    return Call("ListVersions", &JobStore::ListVersions, id, before, limit);
  }
  Result<StoredJob> ReplaceJob(const JobId& id, int64_t expected_version,
                               const JobDefinition& definition,
                               const WriteContext& context) override {
    return Call("ReplaceJob", &JobStore::ReplaceJob, id, expected_version, definition, context);
  }
  Result<StoredJob> PauseJob(const JobId& id, const std::string& reason,
                             const WriteContext& context) override {
    return Call("PauseJob", &JobStore::PauseJob, id, reason, context);
  }
  Result<StoredJob> ResumeJob(const JobId& id, const std::string& reason,
                              const WriteContext& context) override {
    return Call("ResumeJob", &JobStore::ResumeJob, id, reason, context);
  }
  Result<JobDependencies> ListDependencies(const JobId& id) override {
    return Call("ListDependencies", &JobStore::ListDependencies, id);
  }
  Status DeleteJob(const JobId& id, int64_t expected_version,
                   const WriteContext& context) override {
    return Call("DeleteJob", &JobStore::DeleteJob, id, expected_version, context);
  }
};

class FaultRunStore : public FaultStore<RunStore> {
 public:
  using FaultStore::FaultStore;
  Result<CreatedRun> ExecuteJob(const ExecuteRequest& request,
                                const WriteContext& context) override {
    return Call("ExecuteJob", &RunStore::ExecuteJob, request, context);
  }
  Result<bool> CancelRun(const RunKey& key, const WriteContext& context) override {
    return Call("CancelRun", &RunStore::CancelRun, key, context);
  }
  Result<int64_t> CancelJobRuns(const JobId& id, const WriteContext& context) override {
    return Call("CancelJobRuns", &RunStore::CancelJobRuns, id, context);
  }
  Result<RunDetail> RetryRun(const RetryRequest& request, const WriteContext& context) override {
    return Call("RetryRun", &RunStore::RetryRun, request, context);
  }
  Result<RunDetail> GetRun(const RunKey& key) override {
    return Call("GetRun", &RunStore::GetRun, key);
  }
  Result<std::vector<RunPart>> ListParts(const RunKey& own) override {
    return Call("ListParts", &RunStore::ListParts, own);
  }
  Result<std::map<RunKey, PartCounts>> CountParts(const std::vector<RunKey>& owns) override {
    return Call("CountParts", &RunStore::CountParts, owns);
  }
  Result<RunPage> ListRuns(const RunFilter& filter, WallTime now) override {
    return Call("ListRuns", &RunStore::ListRuns, filter, now);
  }
  Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) override {
    return Call("CountRuns", &RunStore::CountRuns, filter, now);
  }
  Result<std::vector<RecentRuns>> ListRecentRuns(const RecentFilter& filter) override {
    return Call("ListRecentRuns", &RunStore::ListRecentRuns, filter);
  }
  Result<uint64_t> RunsFingerprint(WallTime now) override {
    return Call("RunsFingerprint", &RunStore::RunsFingerprint, now);
  }
  Result<GapPage> ListGaps(const GapFilter& filter) override {
    return Call("ListGaps", &RunStore::ListGaps, filter);
  }
  Result<BoundedCount> CountGaps(const GapFilter& filter) override {
    return Call("CountGaps", &RunStore::CountGaps, filter);
  }
  Result<RunCounts> CountOpenRuns() override {
    return Call("CountOpenRuns", &RunStore::CountOpenRuns);
  }
  Result<std::vector<DeadLetter>> ListDeadLetters(const DeadLetterFilter& filter) override {
    return Call("ListDeadLetters", &RunStore::ListDeadLetters, filter);
  }
  Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) override {
    return Call("CountDeadLetters", &RunStore::CountDeadLetters, filter);
  }
  Result<DeadLetterJobPage> ListDeadLetterJobs(const DeadLetterJobFilter& filter) override {
    return Call("ListDeadLetterJobs", &RunStore::ListDeadLetterJobs, filter);
  }
  Result<DeadLetter> GetDeadLetter(uint64_t id) override {
    return Call("GetDeadLetter", &RunStore::GetDeadLetter, id);
  }
  Status DiscardDeadLetter(uint64_t id) override {
    return Call("DiscardDeadLetter", &RunStore::DiscardDeadLetter, id);
  }
};

class FaultGroupStore : public FaultStore<GroupStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<Group>> ListGroups(WallTime now) override {
    return Call("ListGroups", &GroupStore::ListGroups, now);
  }
  Result<GroupDetail> GetGroup(const std::string& name, size_t limit, WallTime now) override {
    return Call("GetGroup", &GroupStore::GetGroup, name, limit, now);
  }
  Result<Group> PutGroup(const std::string& name, const GroupChange& change,
                         WallTime now) override {
    return Call("PutGroup", &GroupStore::PutGroup, name, change, now);
  }
  Status DeleteGroup(const std::string& name) override {
    return Call("DeleteGroup", &GroupStore::DeleteGroup, name);
  }
};

class FaultBackfillStore : public FaultStore<BackfillStore> {
 public:
  using FaultStore::FaultStore;
  Result<BackfillPreview> PreviewBackfill(const BackfillTerms& terms) override {
    return Call("PreviewBackfill", &BackfillStore::PreviewBackfill, terms);
  }
  Result<Backfill> CreateBackfill(const BackfillTerms& terms,
                                  const std::optional<KeyedAnswer<Backfill>>& keyed,
                                  const WriteContext& context) override {
    return Call("CreateBackfill", &BackfillStore::CreateBackfill, terms, keyed, context);
  }
  Result<Backfill> GetBackfill(uint64_t number) override {
    return Call("GetBackfill", &BackfillStore::GetBackfill, number);
  }
  Result<std::vector<Backfill>> ListBackfills(const BackfillFilter& filter) override {
    return Call("ListBackfills", &BackfillStore::ListBackfills, filter);
  }
  Result<BoundedCount> CountBackfills(const BackfillFilter& filter) override {
    return Call("CountBackfills", &BackfillStore::CountBackfills, filter);
  }
  Result<Backfill> PauseBackfill(uint64_t number, const WriteContext& context) override {
    return Call("PauseBackfill", &BackfillStore::PauseBackfill, number, context);
  }
  Result<Backfill> ResumeBackfill(uint64_t number, const WriteContext& context) override {
    return Call("ResumeBackfill", &BackfillStore::ResumeBackfill, number, context);
  }
  Result<Backfill> CancelBackfill(uint64_t number, const WriteContext& context) override {
    return Call("CancelBackfill", &BackfillStore::CancelBackfill, number, context);
  }
  Result<std::vector<OpenBackfill>> ScanBackfills(const std::vector<SegmentId>& segments,
                                                  uint64_t after, size_t limit) override {
    return Call("ScanBackfills", &BackfillStore::ScanBackfills, segments, after, limit);
  }
  Result<BackfillEffect> StepBackfill(const OpenBackfill& backfill, const Fence& fence,
                                      WallTime now, Duration retention) override {
    return Write("StepBackfill", &BackfillStore::StepBackfill, backfill, fence, now, retention);
  }
};

// A read of more than kLongRead is the operation "ReadLongLog".
class FaultLogStore : public FaultStore<LogStore> {
 public:
  using FaultStore::FaultStore;
  Status AppendLogs(const std::vector<LogRecord>& records) override {
    return Call("AppendLogs", &LogStore::AppendLogs, records);
  }
  Result<std::vector<size_t>> FindForeign(const std::vector<LogOrigin>& origins) override {
    return Call("FindForeign", &LogStore::FindForeign, origins);
  }
  Result<std::vector<LogChunk>> ReadLog(const RunKey& key, int attempt, uint64_t from_seq,
                                        size_t bytes_max) override {
    const bool is_long = bytes_max > kLongRead;
    return Call(is_long ? "ReadLongLog" : "ReadLog", &LogStore::ReadLog, key, attempt, from_seq,
                bytes_max);
  }
  Result<LogExtent> GetLogExtent(const RunKey& key, int attempt) override {
    return Call("GetLogExtent", &LogStore::GetLogExtent, key, attempt);
  }

 private:
  static constexpr size_t kLongRead = 256u << 10;
};

}  // namespace carillon::test
