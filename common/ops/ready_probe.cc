#include "common/ops/ready_probe.h"

namespace carillon::ops {

SteadyTime ReadyProbe::Step(SteadyTime now) {
  {
    const MutexLock lock(mu_);
    asked_ = now;
  }
  Status answer = check_.check();
  const MutexLock lock(mu_);
  if (!answer_) answered_.set_value();
  answer_ = std::move(answer);
  asked_.reset();
  return now + kEvery;
}

Status ReadyProbe::Read(SteadyTime now) const {
  const MutexLock lock(mu_);
  if (asked_ && now - *asked_ > kPatience) {
    return {ErrorCode::kTimeout, check_.name + " does not respond"};
  }
  if (!answer_) return {ErrorCode::kUnavailable, check_.name + " has not been checked yet"};
  return *answer_;
}

}  // namespace carillon::ops
