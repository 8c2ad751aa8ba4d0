// The port RunStore on MariaDB or MySQL.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

class MysqlRunStore final : public RunStore {
 public:
  explicit MysqlRunStore(MysqlDatabase& db) : db_(db) {}

  Result<CreatedRun> ExecuteJob(const ExecuteRequest& request,
                                const WriteContext& context) override;
  Result<bool> CancelRun(const RunKey& key, const WriteContext& context) override;
  Result<int64_t> CancelJobRuns(const JobId& id, const WriteContext& context) override;
  Result<RunDetail> RetryRun(const RetryRequest& request, const WriteContext& context) override;
  Result<RunDetail> GetRun(const RunKey& key) override;
  Result<std::vector<RunPart>> ListParts(const RunKey& own) override;
  Result<std::map<RunKey, PartCounts>> CountParts(const std::vector<RunKey>& owns) override;
  Result<RunPage> ListRuns(const RunFilter& filter, WallTime now) override;
  Result<std::vector<RecentRuns>> ListRecentRuns(const RecentFilter& filter) override;
  Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) override;
  Result<uint64_t> RunsFingerprint(WallTime now) override;
  Result<GapPage> ListGaps(const GapFilter& filter) override;
  Result<BoundedCount> CountGaps(const GapFilter& filter) override;
  Result<RunCounts> CountOpenRuns() override;
  Result<std::vector<DeadLetter>> ListDeadLetters(const DeadLetterFilter& filter) override;
  Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) override;
  Result<DeadLetterJobPage> ListDeadLetterJobs(const DeadLetterJobFilter& filter) override;
  Result<DeadLetter> GetDeadLetter(uint64_t id) override;
  Status DiscardDeadLetter(uint64_t id) override;

 private:
  // Cancels the nodes of those that are workflow runs, and of the workflow runs among these nodes.
  Status CancelNodesOf(std::vector<RunKey> own_runs, const WriteContext& context);

  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
