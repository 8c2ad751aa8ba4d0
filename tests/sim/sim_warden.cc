#include "tests/sim/sim_warden.h"

#include <algorithm>
#include <string>

#include "executor/leases/lease_watch.h"

namespace carillon::sim {
namespace {

constexpr Duration kKillTakes = 20ms;
constexpr Duration kLookAgain = 100ms;

int64_t Field(const std::string& command, const std::string& name, int64_t fallback) {
  const size_t at = command.find(name + "=");
  return at == std::string::npos ? fallback : std::stoll(command.substr(at + name.size() + 1));
}

executor::WatchedLease LeaseOf(const StartAttempt& start) {
  return {start.lease_end, start.kill_at_lease_end};
}

}  // namespace

// The daemon's connection to the warden. Messages wait in the pipe. After a restart of the warden,
// messages without an answer are sent again.
class SimWarden final : public Warden {
 public:
  explicit SimWarden(SimWardenHost& host) : host_(host) { host_.connection_ = this; }
  ~SimWarden() override {
    if (host_.connection_ == this) host_.connection_ = nullptr;
  }

  Status CanStart() override {
    if (!host_.up_) return Away();
    if (host_.disk_full_) return {ErrorCode::kExhausted, "no space left on device"};
    return {};
  }
  Status Start(const StartAttempt& start) override {
    if (!host_.up_) return Away();
    if (!unanswered_.try_emplace(NameOf(start.attempt), start).second) return {};
    Say([this, host = &host_, start](bool connected) {
      StartAttempt wanted = start;
      if (connected) {
        const auto asked = unanswered_.find(NameOf(start.attempt));
        if (asked != unanswered_.end()) wanted.lease_end = asked->second.lease_end;
      }
      host->Do(wanted);
    });
    return {};
  }
  Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) override {
    if (!host_.up_) return Away();
    for (const HeldAttempt& held : attempts) {
      const auto asked = unanswered_.find(NameOf(held));
      if (asked == unanswered_.end()) continue;
      asked->second.lease_end = std::max(asked->second.lease_end, lease_end);
    }
    Say([&host = host_, attempts, lease_end](bool) { host.Renew(attempts, lease_end); });
    return {};
  }
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override {
    if (!host_.up_) return Away();
    const auto grace =
        mode == CancelMode::kKill ? SimWardenHost::Grace::kNone : SimWardenHost::Grace::kGiven;
    Say([&host = host_, attempt, grace](bool) {
      const auto found = host.running_.find(NameOf(attempt));
      if (found == host.running_.end()) return;
      host.End(found->second, RunState::kCancelled, reason::kCancelRequested, grace);
    });
    return {};
  }
  Result<Inventory> List() override {
    if (!host_.up_) return Away();
    return Inventoried();
  }
  Status Forget(const std::vector<HeldAttempt>& attempts) override {
    if (!host_.up_) return Away();
    Say([&host = host_, attempts](bool) {
      for (const HeldAttempt& held : attempts) host.ended_.erase(NameOf(held));
    });
    return {};
  }
  std::vector<AttemptEvent> Receive(size_t max) override { return TakeOldest(events_, max); }
  void OnReadable(std::function<void()> wake) override { wake_ = std::move(wake); }

  void Tell(AttemptEvent event) {
    std::visit([this](const auto& about) { unanswered_.erase(NameOf(about.attempt)); }, event);
    events_.push_back(std::move(event));
    if (wake_) wake_();
  }
  void Reconnected() {
    const Inventory inventory = Inventoried();
    for (const AttemptStarted& running : inventory.running) Tell(running);
    for (const AttemptEnded& ended : inventory.ended) Tell(ended);
    const auto again = std::exchange(unanswered_, {});
    for (const auto& [name, start] : again) static_cast<void>(Start(start).ok());
  }

 private:
  static Error Away() { return {ErrorCode::kUnavailable, "no warden is attached"}; }
  // When the daemon dies, its messages stay in the pipe, and the warden still reads them.
  void Say(std::function<void(bool connected)> what) {
    host_.pipe_.push_back(
        [this, &host = host_, what = std::move(what)] { what(host.connection_ == this); });
  }
  Inventory Inventoried() const {
    Inventory inventory;
    for (const auto& [name, process] : host_.running_) {
      inventory.running.push_back({process.start.attempt, process.started});
    }
    for (const auto& [name, ended] : host_.ended_) inventory.ended.push_back(ended);
    return inventory;
  }

  SimWardenHost& host_;
  std::map<AttemptName, StartAttempt> unanswered_;
  std::deque<AttemptEvent> events_;
  std::function<void()> wake_;
};

class SimSpool final : public ResultSpool {
 public:
  explicit SimSpool(SimWardenHost& host) : host_(host) {}
  Status Append(const std::vector<AttemptEnded>& results) override {
    if (host_.disk_full_) return {ErrorCode::kExhausted, "no space left on device"};
    for (const AttemptEnded& ended : results) {
      host_.spool_.push_back(ended);
      host_.ports_.observer.AttemptEndedOnDisk(host_.ports_.host, ended);
    }
    return {};
  }
  Status Remove(const std::vector<HeldAttempt>& applied) override {
    for (const HeldAttempt& held : applied) {
      std::erase_if(host_.spool_, [&held](const AttemptEnded& ended) {
        return NameOf(ended.attempt) == NameOf(held) && ended.attempt.token == held.token;
      });
    }
    return {};
  }
  Result<std::vector<AttemptEnded>> Load() override { return host_.spool_; }

 private:
  SimWardenHost& host_;
};

std::unique_ptr<ResultSpool> SimWardenHost::MakeSpool() {
  return std::make_unique<SimSpool>(*this);
}

std::unique_ptr<Warden> SimWardenHost::Connect() { return std::make_unique<SimWarden>(*this); }

void SimWardenHost::Pause(Duration wait) {
  const SteadyTime now = ports_.clock.Steady();
  // Two pauses in close succession would add up to more than the warden's margin.
  if (now >= paused_until_ + 2 * wait) paused_until_ = now + wait;
}

void SimWardenHost::Kill() {
  up_ = false;
  pipe_.clear();
  running_.clear();
}

void SimWardenHost::Restart() {
  up_ = true;
  paused_until_ = {};
  for (const auto& [name, held] : std::exchange(open_starts_, {})) {
    Record({held,
            {.state = RunState::kLost,
             .reason = std::string(reason::kWardenDied),
             .ended = ports_.clock.Wall()}});
  }
  if (connection_ != nullptr) connection_->Reconnected();
}

void SimWardenHost::Step() {
  if (!Acts()) return;
  stepped_ = ports_.clock.Steady();
  std::deque<std::function<void()>> said = std::exchange(pipe_, {});
  for (const auto& what : said) what();
  for (auto& [name, process] : running_) Watch(process);
  Reap();
}

SteadyTime SimWardenHost::NextStep() const {
  if (!up_) return SteadyTime::max();
  const SteadyTime now = ports_.clock.Steady();
  SteadyTime next = SteadyTime::max();
  if (!pipe_.empty()) next = now;
  for (const auto& [name, process] : running_) {
    next = std::min({next, process.exits_at, process.times_out_at, process.dies_at});
    const SteadyTime lease = executor::NextLeaseCheck(LeaseOf(process.start));
    if (process.dies_at - kKillTakes <= lease) continue;  // dead by then; `lease` may be max()
    // A lease that has ended, but not yet killed its process, is checked again after kLookAgain.
    next = std::min(next, lease > stepped_ ? lease : stepped_ + kLookAgain);
  }
  return std::max(next, paused_until_);
}

void SimWardenHost::Do(const StartAttempt& start) {
  const AttemptName name = NameOf(start.attempt);
  if (known_.contains(name)) {
    // The daemon repeats its request if the report of the end was lost, so it is sent again.
    const auto ended = ended_.find(name);
    if (ended != ended_.end() && connection_ != nullptr) connection_->Tell(ended->second);
    return;
  }
  const auto now = ports_.clock.Steady();
  AttemptEnded ended{start.attempt, {.state = RunState::kFailed, .ended = ports_.clock.Wall()}};
  ended.job_id = start.job_id;
  if (executor::DecideAtStart(LeaseOf(start), now) == executor::LeaseAction::kRefuseStart) {
    known_.insert(name);
    ended.result.state = RunState::kLost;
    ended.result.reason = std::string(reason::kNotStarted);
    Record(ended);
  } else if (disk_full_) {
    known_.insert(name);
    ended.result.reason = std::string(reason::kHost);
    Record(ended);
  } else {
    Launch(start);
  }
}

void SimWardenHost::Renew(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  ports_.observer.LeasesRenewed(ports_.host, attempts.size(), lease_end - ports_.clock.Steady());
  for (const HeldAttempt& held : attempts) {
    const auto found = running_.find(NameOf(held));
    if (found == running_.end()) continue;
    StartAttempt& start = found->second.start;
    if (start.attempt.token != held.token) continue;
    start.lease_end = executor::RenewedEnd(start.lease_end, lease_end);
  }
}

void SimWardenHost::Launch(const StartAttempt& start) {
  const AttemptName name = NameOf(start.attempt);
  const SteadyTime now = ports_.clock.Steady();
  known_.insert(name);
  open_starts_[name] = start.attempt;
  const std::string& command = start.command;
  const bool fails = start.attempt.attempt <= Field(command, "failures", 0);
  Process process{.start = start,
                  .started = ports_.clock.Wall(),
                  .exits_at = now + Field(command, "ms", 0) * 1ms,
                  .times_out_at = now + start.timeout,
                  .exit_code = fails ? 1 : static_cast<int>(Field(command, "exit", 0)),
                  .term = Field(command, "term", 0) * 1ms};
  running_.emplace(name, process);
  ports_.observer.ProcessStarted(ports_.host, start);
  if (connection_ != nullptr) connection_->Tell(AttemptStarted{start.attempt, process.started});
}

void SimWardenHost::End(Process& process, RunState state, std::string_view why, Grace grace) {
  const SteadyTime now = ports_.clock.Steady();
  if (process.ending) {  // the first reason counts; a grace period can be shortened
    if (grace == Grace::kNone) process.dies_at = std::min(process.dies_at, now + kKillTakes);
    return;
  }
  process.ending = AttemptResult{.state = state, .reason = std::string(why)};
  process.times_out_at = SteadyTime::max();
  const bool obeys = process.term >= Duration::zero() && process.term < process.start.kill_grace;
  const Duration takes = grace == Grace::kNone ? kKillTakes
                         : obeys               ? process.term
                                               : process.start.kill_grace + kKillTakes;
  process.dies_at = now + takes;
}

void SimWardenHost::Watch(Process& process) {
  const SteadyTime now = ports_.clock.Steady();
  const bool over =
      executor::DecideWhileRunning(LeaseOf(process.start), now) == executor::LeaseAction::kKill;
  if (over && process.dies_at > now + kKillTakes) {
    // The grace period of an end in progress is cut short, because the lease has ended.
    End(process, RunState::kLost, reason::kLeaseEnded, Grace::kNone);
  }
  if (now >= process.times_out_at) {
    End(process, RunState::kTimedOut, reason::kTimeout, Grace::kGiven);
  }
}

void SimWardenHost::Reap() {
  const SteadyTime now = ports_.clock.Steady();
  for (auto it = running_.begin(); it != running_.end();) {
    Process& process = it->second;
    const bool exited = now >= process.exits_at && process.exits_at <= process.dies_at;
    if (!exited && now < process.dies_at) {
      ++it;
      continue;
    }
    AttemptEnded ended{process.start.attempt, {}};
    ended.job_id = process.start.job_id;
    if (process.ending) {
      ended.result = *process.ending;
    } else {
      ended.result.state = process.exit_code == 0 ? RunState::kCompleted : RunState::kFailed;
      ended.result.exit_code = process.exit_code;
      if (process.exit_code != 0) ended.result.reason = std::string(reason::kExitCode);
    }
    ended.result.started = process.started;
    ended.result.ended = ports_.clock.Wall();
    it = running_.erase(it);
    Record(ended);
  }
}

void SimWardenHost::Record(const AttemptEnded& ended) {
  const AttemptName name = NameOf(ended.attempt);
  open_starts_.erase(name);
  ended_[name] = ended;
  ports_.observer.AttemptEndedOnDisk(ports_.host, ended);
  if (connection_ != nullptr) connection_->Tell(ended);
}

bool SimWardenHost::IsAlive(const RunKey& key, int except) const {
  const SteadyTime now = ports_.clock.Steady();
  return std::any_of(running_.begin(), running_.end(), [&](const auto& entry) {
    return entry.first.first == key && entry.first.second != except &&
           now < std::min(entry.second.exits_at, entry.second.dies_at);
  });
}

size_t SimWardenHost::alive() const { return running_.size(); }

}  // namespace carillon::sim
