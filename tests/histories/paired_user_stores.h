// The store ports that users call, paired: each call goes to both stores (pairing.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/store/backfill_store.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/calendar_store.h"
#include "common/ports/store/group_store.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/run_store.h"
#include "tests/histories/pairing.h"

namespace carillon::test {

class PairedJobStore final : public Paired<JobStore> {
 public:
  using Paired::Paired;
  Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                              const WriteContext& context) override {
    return Both("CreateJob", &JobStore::CreateJob, id, definition, context);
  }
  Result<StoredJobs> CreateJobs(const NewJobs& jobs, const WriteContext& context) override {
    return Both("CreateJobs", &JobStore::CreateJobs, jobs, context);
  }
  Result<StoredJob> GetJob(const JobId& id) override {
    return Both("GetJob", &JobStore::GetJob, id);
  }
  Result<FoundJobs> FindJobs(const JobKeys& keys) override {
    return Both("FindJobs", &JobStore::FindJobs, keys);
  }
  Result<JobHead> GetJobHead(const JobId& id) override {
    return Both("GetJobHead", &JobStore::GetJobHead, id);
  }
  Result<JobPage> ListJobs(const JobFilter& filter) override {
    return Both("ListJobs", &JobStore::ListJobs, filter);
  }
  Result<BoundedCount> CountJobs(const JobFilter& filter) override {
    return Both("CountJobs", &JobStore::CountJobs, filter);
  }
  Result<std::vector<std::string>> ListNamespaces(const std::string& after, size_t limit) override {
    return Both("ListNamespaces", &JobStore::ListNamespaces, after, limit);
  }
  Result<BoundedCount> CountVersions(const JobId& id) override {
    return Both("CountVersions", &JobStore::CountVersions, id);
  }
  Result<BoundedCount> CountNamespaces() override {
    return Both("CountNamespaces", &JobStore::CountNamespaces);
  }
  Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                               size_t limit) override {
    return Both("ListVersions", &JobStore::ListVersions, id, before, limit);
  }
  Result<StoredJob> ReplaceJob(const JobId& id, int64_t expected_version,
                               const JobDefinition& definition,
                               const WriteContext& context) override {
    return Both("ReplaceJob", &JobStore::ReplaceJob, id, expected_version, definition, context);
  }
  Result<StoredJob> PauseJob(const JobId& id, const std::string& reason,
                             const WriteContext& context) override {
    return Both("PauseJob", &JobStore::PauseJob, id, reason, context);
  }
  Result<StoredJob> ResumeJob(const JobId& id, const std::string& reason,
                              const WriteContext& context) override {
    return Both("ResumeJob", &JobStore::ResumeJob, id, reason, context);
  }
  Result<JobDependencies> ListDependencies(const JobId& id) override {
    return Both("ListDependencies", &JobStore::ListDependencies, id);
  }
  Status DeleteJob(const JobId& id, int64_t expected_version,
                   const WriteContext& context) override {
    return Both("DeleteJob", &JobStore::DeleteJob, id, expected_version, context);
  }
};

class PairedRunStore final : public Paired<RunStore> {
 public:
  using Paired::Paired;
  Result<CreatedRun> ExecuteJob(const ExecuteRequest& request,
                                const WriteContext& context) override {
    return Both("ExecuteJob", &RunStore::ExecuteJob, request, context);
  }
  Result<bool> CancelRun(const RunKey& key, const WriteContext& context) override {
    return Both("CancelRun", &RunStore::CancelRun, key, context);
  }
  Result<int64_t> CancelJobRuns(const JobId& id, const WriteContext& context) override {
    return Both("CancelJobRuns", &RunStore::CancelJobRuns, id, context);
  }
  Result<RunDetail> RetryRun(const RetryRequest& request, const WriteContext& context) override {
    return Both("RetryRun", &RunStore::RetryRun, request, context);
  }
  Result<std::vector<RunPart>> ListParts(const RunKey& own) override {
    return Both("ListParts", &RunStore::ListParts, own);
  }
  Result<std::map<RunKey, PartCounts>> CountParts(const std::vector<RunKey>& owns) override {
    return Both("CountParts", &RunStore::CountParts, owns);
  }
  Result<RunDetail> GetRun(const RunKey& key) override {
    return Both("GetRun", &RunStore::GetRun, key);
  }
  Result<RunPage> ListRuns(const RunFilter& filter, WallTime now) override {
    return Both("ListRuns", &RunStore::ListRuns, filter, now);
  }
  Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) override {
    return Both("CountRuns", &RunStore::CountRuns, filter, now);
  }
  Result<std::vector<RecentRuns>> ListRecentRuns(const RecentFilter& filter) override {
    return Both("ListRecentRuns", &RunStore::ListRecentRuns, filter);
  }
  Result<uint64_t> RunsFingerprint(WallTime now) override {
    return Both("RunsFingerprint", &RunStore::RunsFingerprint, now);
  }
  Result<GapPage> ListGaps(const GapFilter& filter) override {
    return Both("ListGaps", &RunStore::ListGaps, filter);
  }
  Result<BoundedCount> CountGaps(const GapFilter& filter) override {
    return Both("CountGaps", &RunStore::CountGaps, filter);
  }
  Result<RunCounts> CountOpenRuns() override {
    return Both("CountOpenRuns", &RunStore::CountOpenRuns);
  }
  Result<std::vector<DeadLetter>> ListDeadLetters(const DeadLetterFilter& filter) override {
    return Both("ListDeadLetters", &RunStore::ListDeadLetters, filter);
  }
  Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) override {
    return Both("CountDeadLetters", &RunStore::CountDeadLetters, filter);
  }
  Result<DeadLetterJobPage> ListDeadLetterJobs(const DeadLetterJobFilter& filter) override {
    return Both("ListDeadLetterJobs", &RunStore::ListDeadLetterJobs, filter);
  }
  Result<DeadLetter> GetDeadLetter(uint64_t id) override {
    return Both("GetDeadLetter", &RunStore::GetDeadLetter, RowId{IdOf::kDeadLetter, id});
  }
  Status DiscardDeadLetter(uint64_t id) override {
    return Both("DiscardDeadLetter", &RunStore::DiscardDeadLetter, RowId{IdOf::kDeadLetter, id});
  }
};

class PairedGroupStore final : public Paired<GroupStore> {
 public:
  using Paired::Paired;
  Result<std::vector<Group>> ListGroups(WallTime now) override {
    return Both("ListGroups", &GroupStore::ListGroups, now);
  }
  Result<GroupDetail> GetGroup(const std::string& name, size_t limit, WallTime now) override {
    return Both("GetGroup", &GroupStore::GetGroup, name, limit, now);
  }
  Result<Group> PutGroup(const std::string& name, const GroupChange& change,
                         WallTime now) override {
    return Both("PutGroup", &GroupStore::PutGroup, name, change, now);
  }
  Status DeleteGroup(const std::string& name) override {
    return Both("DeleteGroup", &GroupStore::DeleteGroup, name);
  }
};

class PairedCalendarStore final : public Paired<CalendarStore> {
 public:
  using Paired::Paired;
  Result<StoredCalendar> PutCalendar(const std::string& name, const CalendarDefinition& definition,
                                     WallTime now) override {
    return Both("PutCalendar", &CalendarStore::PutCalendar, name, definition, now);
  }
  Status DeleteCalendar(const std::string& name, WallTime now) override {
    return Both("DeleteCalendar", &CalendarStore::DeleteCalendar, name, now);
  }
  Result<int64_t> ReadCalendarVersion() override {
    return Both("ReadCalendarVersion", &CalendarStore::ReadCalendarVersion);
  }
  Result<CalendarSet> LoadCalendars() override {
    return Both("LoadCalendars", &CalendarStore::LoadCalendars);
  }
  Result<std::map<CalendarNo, int64_t>> CountCalendarJobs() override {
    return Both("CountCalendarJobs", &CalendarStore::CountCalendarJobs);
  }
};

class PairedBackfillStore final : public Paired<BackfillStore> {
 public:
  using Paired::Paired;
  Result<BackfillPreview> PreviewBackfill(const BackfillTerms& terms) override {
    return Both("PreviewBackfill", &BackfillStore::PreviewBackfill, terms);
  }
  Result<Backfill> CreateBackfill(const BackfillTerms& terms,
                                  const std::optional<KeyedAnswer<Backfill>>& keyed,
                                  const WriteContext& context) override {
    return Both("CreateBackfill", &BackfillStore::CreateBackfill, terms, keyed, context);
  }
  Result<Backfill> GetBackfill(uint64_t number) override {
    return Both("GetBackfill", &BackfillStore::GetBackfill, RowId{IdOf::kBackfill, number});
  }
  Result<std::vector<Backfill>> ListBackfills(const BackfillFilter& filter) override {
    return Both("ListBackfills", &BackfillStore::ListBackfills, filter);
  }
  Result<BoundedCount> CountBackfills(const BackfillFilter& filter) override {
    return Both("CountBackfills", &BackfillStore::CountBackfills, filter);
  }
  Result<Backfill> PauseBackfill(uint64_t number, const WriteContext& context) override {
    return Both("PauseBackfill", &BackfillStore::PauseBackfill, RowId{IdOf::kBackfill, number},
                context);
  }
  Result<Backfill> ResumeBackfill(uint64_t number, const WriteContext& context) override {
    return Both("ResumeBackfill", &BackfillStore::ResumeBackfill, RowId{IdOf::kBackfill, number},
                context);
  }
  Result<Backfill> CancelBackfill(uint64_t number, const WriteContext& context) override {
    return Both("CancelBackfill", &BackfillStore::CancelBackfill, RowId{IdOf::kBackfill, number},
                context);
  }
  Result<std::vector<OpenBackfill>> ScanBackfills(const std::vector<SegmentId>& segments,
                                                  uint64_t after, size_t limit) override {
    return Both("ScanBackfills", &BackfillStore::ScanBackfills, segments,
                RowId{IdOf::kBackfill, after}, limit);
  }
  Result<BackfillEffect> StepBackfill(const OpenBackfill& backfill, const Fence& fence,
                                      WallTime now, Duration retention) override {
    return Both("StepBackfill", &BackfillStore::StepBackfill, backfill, fence, now, retention);
  }
};

class PairedBulkStore final : public Paired<BulkStore> {
 public:
  using Paired::Paired;
  Result<BulkAction> CreateBulk(const BulkOrder& order, const std::vector<std::string>& ids,
                                const std::optional<KeyedAnswer<BulkAction>>& keyed) override {
    return Both("CreateBulk", &BulkStore::CreateBulk, order, ids, keyed);
  }
  Result<BulkAction> GetBulk(const std::string& bulk_id) override {
    return Both("GetBulk", &BulkStore::GetBulk, bulk_id);
  }
  Result<std::vector<BulkAction>> ListBulk(const BulkFilter& filter) override {
    return Both("ListBulk", &BulkStore::ListBulk, filter);
  }
  Result<BoundedCount> CountBulk(const BulkFilter& filter) override {
    return Both("CountBulk", &BulkStore::CountBulk, filter);
  }
  Result<std::vector<BulkItem>> ListBulkItems(const std::string& bulk_id,
                                              const BulkItemFilter& filter) override {
    return Both("ListBulkItems", &BulkStore::ListBulkItems, bulk_id, filter);
  }
  Result<BoundedCount> CountBulkItems(const std::string& bulk_id,
                                      const BulkItemFilter& filter) override {
    return Both("CountBulkItems", &BulkStore::CountBulkItems, bulk_id, filter);
  }
  Result<BulkAction> CancelBulk(const std::string& bulk_id, WallTime now) override {
    return Both("CancelBulk", &BulkStore::CancelBulk, bulk_id, now);
  }
  Result<std::optional<LeasedBulk>> TakeBulk(WallTime now, WallTime until) override {
    return Both("TakeBulk", &BulkStore::TakeBulk, now, until);
  }
  Result<std::vector<BulkItem>> BeginBulkItems(const BulkLease& lease, int64_t last_position,
                                               WallTime now, WallTime until) override {
    return Both("BeginBulkItems", &BulkStore::BeginBulkItems, lease, last_position, now, until);
  }
  Result<BulkAction> RecordBulkItems(const BulkLease& lease, const std::vector<BulkItem>& items,
                                     WallTime now, WallTime until) override {
    return Both("RecordBulkItems", &BulkStore::RecordBulkItems, lease, items, now, until);
  }
  Result<BulkAction> StopBulk(const BulkLease& lease, const std::string& error,
                              const std::string& begun_error_json, WallTime now) override {
    return Both("StopBulk", &BulkStore::StopBulk, lease, error, begun_error_json, now);
  }
  Status ReleaseBulk(const BulkLease& lease) override {
    return Both("ReleaseBulk", &BulkStore::ReleaseBulk, lease);
  }
};

}  // namespace carillon::test
