// Options of a store: where it is and how it is opened.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/base/metrics/metrics.h"
#include "common/base/time.h"

namespace carillon::mysql {

struct MysqlOptions {
  SessionOptions session;
  size_t pool_size = 8;
  Duration pool_wait = 5s;
  bool create_database = false;  // create session.database if it does not exist
  uint32_t segment_count = 64;   // for a new store; an existing store keeps its number
  bool check_server = true;      // see server_checks.h; false in tests whose server is not durable
  Metrics* metrics = nullptr;    // counts rows that cannot be read; outlives the store
};

}  // namespace carillon::mysql
