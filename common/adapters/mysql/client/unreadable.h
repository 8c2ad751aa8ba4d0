// Rows that hold what this version cannot read: damaged by hand, or written by a newer version.
// Whoever reads many rows leaves such a one out and tells it here; the others go on.
//
// Threads  Thread-safe.
// Always   Each is counted (carillon_unreadable_rows_total, by table); each row is logged once, up
//          to kLoggedRowsMax of them, and beyond that the count at each power of two.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "common/base/metrics.h"
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
