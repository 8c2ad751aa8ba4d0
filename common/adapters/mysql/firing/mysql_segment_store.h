// The port SegmentStore on MariaDB or MySQL.
//
// Place    The store is the only authority on who owns a segment (P5 of docs/semantics.md).
// Time     Now() is the database's clock.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/segment_store.h"

namespace carillon::mysql {

class MysqlSegmentStore final : public SegmentStore {
 public:
  explicit MysqlSegmentStore(MysqlDatabase& db) : db_(db) {}

  Result<WallTime> Now() override;
  Result<TakenSegments> Take(const TakeRequest& request) override;
  Status Release(const Fence& fence) override;
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override;
  Result<std::vector<SegmentRecord>> ListSegments() override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
