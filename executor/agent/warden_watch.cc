#include "executor/agent/warden_watch.h"

#include <utility>

#include "common/base/log.h"

namespace carillon::executor {

void WardenWatch::Observe(const Status& can_start, SteadyTime now) {
  const bool away = can_start.code() == ErrorCode::kUnavailable;
  if (!away || !seen_) seen_ = now;
  const bool in_trouble = away && now - *seen_ >= kWardenPatience;
  std::string trouble = in_trouble ? can_start.error().message : "";
  if (trouble == trouble_) return;
  trouble_ = std::move(trouble);
  if (in_trouble) {
    log::Error("executor", "accepts no work: {}", trouble_);
  } else {
    log::Info("executor", "the warden responds: accepts work again");
  }
}

}  // namespace carillon::executor
