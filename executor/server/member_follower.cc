#include "executor/server/member_follower.h"

#include <utility>

#include "common/base/log.h"

namespace carillon::executor {
namespace {

constexpr Duration kLookEvery = 1s;  // polls the directory in case a notification is lost

}  // namespace

MemberFollower::MemberFollower(MemberDirectory& directory,
                               std::function<void(const std::vector<MemberInfo>&)> set_members,
                               Options options)
    : directory_(directory),
      set_members_(std::move(set_members)),
      options_(std::move(options)),
      rng_(options_.seed) {}

SteadyTime MemberFollower::Step(SteadyTime now) {
  const bool gone = !shown_ || directory_.State() == SessionState::kExpired;
  const bool there = !gone || Announce(now);
  if (shown_) {
    std::vector<MemberInfo> members = directory_.Members();
    if (members != reported_) {
      set_members_(members);
      reported_ = std::move(members);
    }
  }
  return now + (there ? kLookEvery : backoff_.Next(rng_));
}

bool MemberFollower::Announce(SteadyTime now) {
  const Status shown = directory_.Announce(options_.executor, options_.incarnation);
  if (shown.ok()) {
    shown_ = true;
    conflict_since_.reset();
    backoff_.Reset();
    return true;
  }
  log::Warn("members", "{}", shown.error().message);
  if (shown.code() != ErrorCode::kConflict) {
    conflict_since_.reset();
    return false;
  }
  if (!conflict_since_) conflict_since_ = now;
  if (now - *conflict_since_ > options_.refused_after) {
    MutexLock lock(mu_);
    refusal_ = shown.error().message + "; choose another executor.id";
  }
  return false;
}

std::string MemberFollower::refusal() const {
  MutexLock lock(mu_);
  return refusal_;
}

}  // namespace carillon::executor
