#include "tests/sim/sim_http.h"

#include <algorithm>
#include <string>

#include "executor/leases/lease_watch.h"

namespace carillon::sim {
namespace {

executor::WatchedLease LeaseOf(const StartHttp& start) {
  return {start.lease_end, start.close_at_lease_end};
}

int64_t FieldOf(const std::string& url, const std::string& name) {
  const size_t at = url.find(name + "=");
  return at == std::string::npos ? 0 : std::stoll(url.substr(at + name.size() + 1));
}

}  // namespace

void SimHttp::Start(StartHttp start) {
  const SteadyTime now = ports_.clock.Steady();
  Request request{.started = ports_.clock.Wall(),
                  .answers_at = now + FieldOf(start.url, "ms") * 1ms,
                  .times_out_at = now + start.timeout,
                  .fails = start.attempt.attempt <= FieldOf(start.url, "failures")};
  StartAttempt seen;
  seen.attempt = start.attempt;
  seen.kill_at_lease_end = start.close_at_lease_end;
  ports_.observer.ProcessStarted(ports_.host, seen);
  const AttemptName name = NameOf(start.attempt);
  request.start = std::move(start);
  open_.emplace(name, std::move(request));
  ports_.wake();
}

Status SimHttp::RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  for (const HeldAttempt& held : attempts) {
    const auto found = open_.find(NameOf(held));
    if (found == open_.end()) continue;
    SteadyTime& end = found->second.start.lease_end;
    end = executor::RenewedEnd(end, lease_end);
  }
  return {};
}

Status SimHttp::Cancel(const HeldAttempt& attempt, CancelMode) {
  const auto found = open_.find(NameOf(attempt));
  if (found != open_.end()) found->second.cancelled = true;
  ports_.wake();
  return {};
}

std::vector<AttemptEvent> SimHttp::Receive(size_t max) { return TakeOldest(events_, max); }

SteadyTime SimHttp::Step(SteadyTime now) {
  std::erase_if(open_, [&](const auto& one) { return EndIfDue(one.second, now); });
  SteadyTime next = SteadyTime::max();
  for (const auto& [name, request] : open_) {
    const SteadyTime lease = executor::NextLeaseCheck(LeaseOf(request.start));
    next = std::min({next, request.answers_at, request.times_out_at});
    if (lease > now) next = std::min(next, lease);
  }
  return next;
}

bool SimHttp::EndIfDue(const Request& request, SteadyTime now) {
  AttemptResult result;
  if (request.cancelled) {
    result.state = RunState::kCancelled;
    result.reason = reason::kCancelRequested;
  } else if (now >= request.answers_at) {
    result.state = request.fails ? RunState::kFailed : RunState::kCompleted;
    result.http_status = request.fails ? 503 : 200;
    if (request.fails) {
      result.reason = reason::kHttpStatus;
      result.retry_after = kRetryAfter;
    }
  } else if (now >= request.times_out_at) {
    result.state = RunState::kTimedOut;
    result.reason = reason::kTimeout;
  } else if (executor::DecideWhileRunning(LeaseOf(request.start), now) ==
             executor::LeaseAction::kKill) {
    result.state = RunState::kLost;
    result.reason = reason::kLeaseEnded;
  } else {
    return false;
  }
  result.started = request.started;
  result.ended = ports_.clock.Wall();
  events_.push_back(AttemptEnded{request.start.attempt, std::move(result), request.start.job_id});
  if (readable_) readable_();
  return true;
}

bool SimHttp::IsAlive(const RunKey& key, int except) const {
  const SteadyTime now = ports_.clock.Steady();
  return std::any_of(open_.begin(), open_.end(), [&](const auto& one) {
    const Request& request = one.second;
    const bool in_lease =
        executor::DecideWhileRunning(LeaseOf(request.start), now) == executor::LeaseAction::kNone;
    return one.first.first == key && one.first.second != except && in_lease &&
           now < std::min(request.answers_at, request.times_out_at) && !request.cancelled;
  });
}

}  // namespace carillon::sim
