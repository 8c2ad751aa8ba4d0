// The users of this host as whom jobs run: the executor's own, and those that
// executor.run_as_allowed names.
//
// Place    Asked before step 8 of docs/life-of-a-run.md.
// Threads  Thread-safe. Step asks the host's directory of users, which may take long, so it has a
//          loop of its own; Find only reads what Step has found.
// Always   A user whose id is 0 is allowed only by the name root.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/domain/host_check.h"
#include "common/ports/executor_host.h"

namespace carillon::executor {

// kNotFound: there is no such user. kUnavailable: the directory of users did not answer.
Result<ProcessUser> LookUpUser(const std::string& name);
// Of this process, by its id and without groups. Same errors.
Result<ProcessUser> LookUpOwnUser();

class HostUsers final : public ProcessUsers, public Stepper {
 public:
  using LookUp = Result<ProcessUser> (*)(const std::string& name);
  using LookUpOwn = Result<ProcessUser> (*)();

  explicit HostUsers(const std::vector<std::string>& allowed, LookUp look_up = &LookUpUser,
                     LookUpOwn look_up_own = &LookUpOwnUser);

  Result<ProcessUser> Find(const std::string& name) override;
  Result<ProcessUser> Own() override;
  SteadyTime Step(SteadyTime now) override;

 private:
  // Logs the first of several looks for `name` that got no answer, and the first that got one.
  void TellSilence(const std::string& name, const Result<ProcessUser>& found);

  const LookUp look_up_;
  const LookUpOwn look_up_own_;
  std::set<std::string> silent_;  // of Step; "" = the executor's own
  Mutex mu_;
  Result<ProcessUser> own_ GUARDED_BY(mu_);
  std::map<std::string, Result<ProcessUser>> found_ GUARDED_BY(mu_);  // exactly the allowed names
};

// The line of the start-up report about the home directory of the executor's own user.
HostCheck CheckHome(const Result<ProcessUser>& own);
// The line of the start-up report. `warden` is that of the warden, which says whether it can change
// users at all. Pure but for users.Find.
HostCheck CheckRunAs(const std::optional<HostCheck>& warden,
                     const std::vector<std::string>& allowed, ProcessUsers& users);

}  // namespace carillon::executor
