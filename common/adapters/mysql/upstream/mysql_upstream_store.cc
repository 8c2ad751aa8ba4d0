#include "common/adapters/mysql/upstream/mysql_upstream_store.h"

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/upstream/awaiting_rows.h"
#include "common/adapters/mysql/upstream/source_rows.h"
#include "common/adapters/mysql/upstream/upstream_rows.h"
#include "common/adapters/mysql/upstream/wait_batch.h"

namespace carillon::mysql {

Result<AwaitingPage> MysqlUpstreamStore::ScanAwaiting(const std::vector<SegmentId>& segments,
                                                      WallTime until, std::optional<RunKey> after,
                                                      size_t limit) {
  if (segments.empty() || limit == 0) return AwaitingPage{};
  return InRead(db_.pool(), "scan awaiting", [&](Session& session) {
    return ReadAwaiting(session, segments, until, after, limit);
  });
}

Result<std::vector<UpstreamSources>> MysqlUpstreamStore::ReadSources(
    const std::vector<UpstreamTarget>& targets) {
  if (targets.empty()) return std::vector<UpstreamSources>{};
  return InRead(db_.pool(), "upstream sources",
                [&](Session& session) { return ReadSourcesOf(session, targets); });
}

Result<std::vector<UpstreamRuns>> MysqlUpstreamStore::ReadUpstreamRuns(
    const std::vector<UpstreamSpan>& spans) {
  if (spans.empty()) return std::vector<UpstreamRuns>{};
  return InRead(db_.pool(), "upstream runs",
                [&](Session& session) { return ReadRunsOf(session, spans); });
}

Result<std::vector<WaitEffect>> MysqlUpstreamStore::EndWaits(const std::vector<WaitItem>& items,
                                                             const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(items, fence, "waits"));
  if (items.empty()) return std::vector<WaitEffect>{};
  return InTransaction(db_.pool(), {.operation = "end waits"}, [&](Session& session) {
    return EndWaitsOf(session, items, {db_.caches().incarnations, fence, now});
  });
}

Result<RunDetail> MysqlUpstreamStore::ReleaseRun(const RunKey& key, const WriteContext& context) {
  return InTransaction(db_.pool(), {.operation = "release run"}, [&](Session& session) {
    return ReleaseWaiting(session, key, db_.caches().incarnations, context.now);
  });
}

}  // namespace carillon::mysql
