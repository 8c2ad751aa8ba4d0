#include "scheduler/settings/upgrade_watch.h"

#include <fmt/core.h>

#include "common/base/log.h"

namespace carillon::scheduler {

SteadyTime UpgradeWatch::Step(SteadyTime now) {
  if (now >= next_look_) {
    next_look_ = now + kLookEvery;
    const Status looked = Look();
    if (!looked.ok()) log::Warn("upgrade", "{}", looked.error().message);
  }
  if (State().finishing && hold_ == nullptr) {
    const Status begun = Begin(now);
    if (!begun.ok()) End(begun);
  } else if (hold_ != nullptr && now >= second_look_) {
    End(Complete());
  }
  return now + kStepEvery;
}

UpgradeState UpgradeWatch::State() const {
  MutexLock lock(mu_);
  return state_;
}

Status UpgradeWatch::CheckProgram() const {
  const SchemaLevels levels = State().levels;
  if (levels.finished <= levels.known) return {};
  return {ErrorCode::kConflict,
          fmt::format("upgrade: it was finished at schema {}, this program knows {}: use a newer "
                      "program",
                      levels.finished, levels.known)};
}

void UpgradeWatch::RequestFinish() {
  MutexLock lock(mu_);
  if (state_.finishing) return;
  state_.finishing = true;
  state_.problem.clear();
}

Status UpgradeWatch::Look() {
  CARILLON_ASSIGN_OR_RETURN(const SchemaLevels levels, ports_.store.ReadLevels());
  finished_.store(levels.finished, std::memory_order_release);
  MutexLock lock(mu_);
  state_.levels = levels;
  return {};
}

Status UpgradeWatch::Begin(SteadyTime now) {
  CARILLON_ASSIGN_OR_RETURN(hold_, ports_.store.Hold());
  CARILLON_TRY(Look());  // nothing changes the schema any more
  CARILLON_TRY(CheckMembers());
  second_look_ = now + kSecondLook;
  return {};
}

Status UpgradeWatch::Complete() {
  CARILLON_TRY(CheckMembers());
  CARILLON_TRY(hold_->Finish());
  return Look();
}

Status UpgradeWatch::CheckMembers() const {
  const int newest = State().levels.applied;
  const std::vector<MemberInfo> members = ports_.coordinator.Members();
  if (ports_.coordinator.State() != SessionState::kConnected || members.empty()) {
    return {ErrorCode::kUnavailable, "the list of members is unavailable"};
  }
  for (const MemberInfo& member : members) {
    if (member.schema >= newest) continue;
    return {ErrorCode::kConflict,
            fmt::format("member {} knows schema {} and not {}: restart it with the new version",
                        member.id.value(), member.schema, newest)};
  }
  return {};
}

void UpgradeWatch::End(const Status& outcome) {
  hold_.reset();
  if (outcome.ok()) {
    log::Info("upgrade", "finished; the schema is at level {}", State().levels.finished);
  } else {
    log::Warn("upgrade", "not finished: {}", outcome.error().message);
  }
  MutexLock lock(mu_);
  state_.finishing = false;
  if (!outcome.ok()) state_.problem = outcome.error().message;
}

}  // namespace carillon::scheduler
