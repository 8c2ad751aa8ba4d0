// Announces this executor in the directory, and gives the control link the members to connect to.
//
// Threads  One loop calls Step; refusal() is thread-safe.
// Errors   Retried at the next Step; without the directory the link keeps the members it knows.
// Always   No member is contacted before this process is announced: an earlier process of the same
//          executor, which may still be alive, must be gone first.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/ports/member_directory.h"

namespace carillon::executor {

class MemberFollower final : public Stepper {
 public:
  struct Options {
    ExecutorId executor;
    Incarnation incarnation;
    Duration refused_after = 12s;  // an earlier process that is still announced then is alive
    uint64_t seed = 1;
  };
  MemberFollower(MemberDirectory& directory,
                 std::function<void(const std::vector<MemberInfo>&)> set_members, Options options);

  SteadyTime Step(SteadyTime now) override;
  // The reason why this process cannot continue: another process has the same executor id. Empty if
  // this process can continue.
  std::string refusal() const;

 private:
  bool Announce(SteadyTime now);

  MemberDirectory& directory_;
  const std::function<void(const std::vector<MemberInfo>&)> set_members_;
  const Options options_;
  Rng rng_;
  Backoff backoff_{{.first = 100ms, .longest = 1s}};
  bool shown_ = false;  // announced at least once
  std::optional<SteadyTime> conflict_since_;
  std::vector<MemberInfo> reported_;
  mutable Mutex mu_;
  std::string refusal_ GUARDED_BY(mu_);
};

}  // namespace carillon::executor
