#include "common/adapters/mysql/client/unreadable.h"

#include <bit>

#include "common/base/log.h"

namespace carillon::mysql {

void UnreadableRows::Note(std::string_view table, const std::string& row, std::string_view why) {
  if (metrics_ != nullptr) metrics_->counter("carillon_unreadable_rows_total", table).Add();
  const std::string name = std::string(table) + " " + row;
  MutexLock lock(mu_);
  ++noted_;
  if (logged_.size() < kLoggedRowsMax) {
    if (logged_.insert(name).second) log::Error("mysql", "unreadable row of {}: {}", name, why);
  } else if (!logged_.contains(name) && std::has_single_bit(noted_)) {
    log::Error("mysql", "{} readings of unreadable rows so far, the last of {}: {}", noted_, name,
               why);
  }
}

}  // namespace carillon::mysql
