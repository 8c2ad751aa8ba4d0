// Rows that this version cannot read: edited by hand, or written by a newer version. Code that
// reads many rows skips such a row and reports it here, so that the other rows are still processed.
//
// Threads  Thread-safe.
// Always   Each report is counted (carillon_unreadable_rows_total, by table). The first
//          kLoggedRowsMax distinct rows are logged once each; for further rows, the total count is
//          logged when it is a power of two.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"

namespace carillon::mysql {

inline constexpr size_t kLoggedRowsMax = 100;

class UnreadableRows {
 public:
  // `metrics` may be null.
  explicit UnreadableRows(Metrics* metrics) : metrics_(metrics) {}

  void Note(std::string_view table, const std::string& row, std::string_view why);

 private:
  Metrics* const metrics_;
  Mutex mu_;
  std::set<std::string> logged_ GUARDED_BY(mu_);
  uint64_t noted_ GUARDED_BY(mu_) = 0;
};

}  // namespace carillon::mysql
