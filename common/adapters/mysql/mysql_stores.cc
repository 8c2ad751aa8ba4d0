#include "common/adapters/mysql/mysql_stores.h"

namespace carillon::mysql {

Result<std::unique_ptr<MysqlStores>> MysqlStores::Open(const MysqlOptions& options,
                                                       const std::function<bool()>& interrupted) {
  CARILLON_ASSIGN_OR_RETURN(MysqlDatabase opened, MysqlDatabase::Open(options, interrupted));
  return std::make_unique<MysqlStores>(std::move(opened));
}

std::unique_ptr<MysqlStores> MysqlStores::Behind(StoreGate& gate, Gated gated) const {
  return std::make_unique<MysqlStores>(db.Behind(gate, gated));
}

}  // namespace carillon::mysql
