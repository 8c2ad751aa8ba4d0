// The port ListCounts on MariaDB or MySQL: a part of MysqlStore, which counts runs itself.
#pragma once

#include <string>

#include "common/adapters/mysql/conditions.h"
#include "common/adapters/mysql/pool.h"
#include "common/adapters/mysql/transaction.h"
#include "common/ports/list_counts.h"

namespace carillon::mysql {

class MysqlCounts : public ListCounts {
 public:
  Result<BoundedCount> CountJobs(const JobFilter& filter) override;
  Result<BoundedCount> CountVersions(const JobId& id) override;
  Result<BoundedCount> CountNamespaces() override;
  Result<BoundedCount> CountGaps(const GapFilter& filter) override;
  Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) override;
  Result<BoundedCount> CountDeliveries(const DeliveryFilter& filter) override;
  Result<BoundedCount> CountAudit(const AuditFilter& filter) override;
  Result<BoundedCount> CountUsers() override;
  Result<BoundedCount> CountTokens(const TokenFilter& filter) override;
  Result<BoundedCount> CountSecrets() override;
  Result<BoundedCount> CountBulk(const BulkFilter& filter) override;
  Result<BoundedCount> CountBulkItems(const std::string& bulk_id,
                                      const BulkItemFilter& filter) override;

 protected:
  explicit MysqlCounts(Pool& pool) : count_pool_(pool) {}

 private:
  Pool& count_pool_;  // outlives this part
};

template <typename Body>
auto InCount(Pool& pool, Body body) -> std::invoke_result_t<Body, Session&> {
  return InLimitedRead(pool, "count", kCountTimeMax, std::move(body));
}

// Rows as a list goes through them.
struct CountedRows {
  std::string from;                          // the table, with its alias
  std::string order;                         // of the list
  Conditions within;                         // a range of an index
  Conditions wanted = {};                    // looked at in each row
  size_t looked_at_max = kCountLookedAtMax;  // when something is wanted
};
Result<BoundedCount> CountRows(Session& session, const CountedRows& rows);

}  // namespace carillon::mysql
