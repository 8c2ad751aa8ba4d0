// The port SettingsStore on MariaDB or MySQL.
#pragma once

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/settings_store.h"

namespace carillon::mysql {

class MysqlSettingsStore final : public SettingsStore {
 public:
  explicit MysqlSettingsStore(MysqlDatabase& db) : db_(db) {}

  Result<ClusterSettings> ReadSettings() override;
  Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next,
                                        Duration paused) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
