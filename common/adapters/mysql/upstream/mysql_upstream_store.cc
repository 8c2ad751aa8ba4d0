#include "common/adapters/mysql/upstream/mysql_upstream_store.h"

namespace carillon::mysql {
namespace {

// No job can have `waits_for` before these calls exist: its JSON form is refused.
Error NotBuilt() { return {ErrorCode::kUnavailable, "waits for other jobs are not supported yet"}; }

}  // namespace

Result<AwaitingPage> MysqlUpstreamStore::ScanAwaiting(const std::vector<SegmentId>& /*segments*/,
                                                      WallTime /*until*/,
                                                      std::optional<RunCursor> /*after*/,
                                                      size_t /*limit*/) {
  return NotBuilt();
}

Result<std::vector<UpstreamSources>> MysqlUpstreamStore::ReadSources(
    const std::vector<UpstreamTarget>& /*targets*/) {
  return NotBuilt();
}

Result<std::vector<UpstreamRuns>> MysqlUpstreamStore::ReadUpstreamRuns(
    const std::vector<UpstreamSpan>& /*spans*/) {
  return NotBuilt();
}

Result<std::vector<WaitEffect>> MysqlUpstreamStore::EndWaits(const std::vector<WaitItem>& /*items*/,
                                                             const Fence& /*fence*/,
                                                             WallTime /*now*/) {
  return NotBuilt();
}

Result<RunDetail> MysqlUpstreamStore::ReleaseRun(const RunKey& /*key*/,
                                                 const WriteContext& /*context*/) {
  return NotBuilt();
}

}  // namespace carillon::mysql
