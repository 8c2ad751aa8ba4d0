// The port LetterStore on MariaDB or MySQL.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/letter_store.h"

namespace carillon::mysql {

class MysqlLetterStore final : public LetterStore {
 public:
  explicit MysqlLetterStore(MysqlDatabase& db) : db_(db) {}

  Result<uint64_t> BeginPublishing(WallTime now) override;
  Result<LettersToPublish> ScanUnpublished(uint64_t first, size_t limit) override;
  Result<LetterBacklog> GetBacklog() override;
  Status MarkPublished(const std::vector<uint64_t>& ids) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
