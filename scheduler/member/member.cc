#include "scheduler/member/member.h"

#include "scheduler/member/member_rooms.h"

namespace carillon::scheduler {
namespace {

// A member is ready only if the store has answered within this time.
constexpr Duration kStoreAnswerMaxAge = 5s;

}  // namespace

Member::Member(const MemberPorts& ports, const MemberOptions& options)
    : rooms_(std::make_unique<Rooms>(ports, options)) {}

Member::~Member() = default;

std::vector<NamedStepper> Member::steppers() {
  Rooms& r = *rooms_;
  const auto named = [&r](const char* name, Stepper& stepper) {
    return NamedStepper{name, &stepper, &r.WakeOf(name)};
  };
  std::vector<NamedStepper> all = {named("owner", r.owner),
                                   named("proof", r.session_proof),
                                   named("leader", r.leader_loop),
                                   named("guard", r.guard_loop),
                                   named("recover", r.recover_loop),
                                   named("plan", r.plan_loop),
                                   named("fire", r.firing),
                                   named("link", r.link_loop),
                                   named("claims", r.claim_applier),
                                   named("results", r.result_applier),
                                   named("logs", r.log_keeper),
                                   named("saves", r.saves_loop),
                                   named("admission", r.admission_loop),
                                   named("begin", r.begins),
                                   named("workflow", r.workflows),
                                   named("backfill", r.backfill_loop),
                                   named("maintain", r.maintain_loop)};
  if (r.notify_loop) all.push_back(named("notify", *r.notify_loop));
  if (r.event_reader) all.push_back(named("events", *r.event_reader));
  return all;
}

void Member::SetUrls(MemberUrls urls) {
  if (rooms_->notifier) rooms_->notifier->SetConsoleUrl(urls.console);
  rooms_->leader.SetUrls(std::move(urls));
}

void Member::Tune(const MemberTuning& tuning) {
  rooms_->planner.SetHorizon(tuning.horizon);
  rooms_->sweep.RaiseHorizon(tuning.horizon);
  rooms_->firing.SetDispatchTimeout(tuning.dispatch_timeout);
  rooms_->sweep.SetOverdueAfter(tuning.dispatch_timeout);
  rooms_->firing.SetBusFormat(tuning.bus_format);
  rooms_->firing.SetOverload(tuning.overload);
  rooms_->backfill.SetRetention(tuning.retention);
  rooms_->maintenance.SetRetention({.runs = tuning.retention, .keep_last = tuning.keep_last_runs});
}

void Member::Leave() {
  rooms_->owner.Leave();
  rooms_->leader.Leave();
}

MemberStatus Member::GetStatus() const {
  const Rooms& r = *rooms_;
  const auto view = r.segments.View();
  MemberStatus status{.self = r.options.self.id, .incarnation = r.options.self.incarnation};
  status.is_leader = r.leader.is_leader();
  status.leader = r.ports.coordinator.Leader();
  status.members = r.ports.coordinator.Members();
  status.owned_segments = view->ActiveSegments();
  status.recovering_segments = view->all().size() - status.owned_segments.size();
  status.executors = r.executors.Records();
  status.clock_offset = r.cluster.Offset().value_or(Duration::zero());
  status.clock_trusted = r.owner.clock_trusted();
  // Counts from the due time. The lateness of fires would show jitter as delay.
  const Histogram& late = r.ports.metrics.histogram("carillon_dispatch_delay_seconds");
  const auto quantile = [&late](double q) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(late.Quantile(q)));
  };
  status.late_p50 = quantile(0.5);
  status.late_p99 = quantile(0.99);
  const OverdueAges ages = r.overdue.Ages();
  status.oldest_overdue = ages.overdue;
  status.oldest_unplanned = ages.unplanned;
  status.unplanned_jobs = r.overdue.UnplannedJobs();
  status.queues = r.gauges.Depths();
  status.queues.push_back({"runs", r.firing.backlog(), r.options.wheel_capacity});
  status.queues.push_back({"ready", r.firing.ready(), r.options.wheel_capacity});
  status.topics = r.gauges.Topics();
  status.session = r.ports.coordinator.State();
  status.paused = r.ports.settings.paused();
  status.accepting = r.planner.accepting();
  if (const Storm storm = r.firing.storm(); !storm.over) status.overload = storm.what;
  return status;
}

void Member::Nudge(const ChangedWork& work) {
  rooms_->planner.Nudge();
  rooms_->sweep.Nudge(work);
  rooms_->cancels.Nudge();
  if (!work.run && rooms_->backfill.Nudge()) rooms_->WakeOf("backfill").Wake();
  rooms_->WakeOf("plan").Wake();
  rooms_->WakeOf("recover").Wake();
}

void Member::NudgeExecutors() {
  rooms_->registry.Nudge();
  rooms_->WakeOf("recover").Wake();
}

bool Member::ready() const {
  const Rooms& r = *rooms_;
  const Duration silence = r.ports.clock.Steady() - r.owner.last_answer();
  return r.owner.clock_trusted() && r.ports.guard.trusted() && r.assignment.settled() &&
         silence < kStoreAnswerMaxAge;
}

Result<WallTime> Member::ClusterNow() const {
  const auto now = rooms_->cluster.Now();
  if (now) return *now;
  return {ErrorCode::kUnavailable, "cluster time is unknown: the store has not answered yet"};
}

StoreStanding Member::GetStoreStanding() const { return rooms_->ports.guard.standing(); }

UpgradeWatch& Member::upgrade() { return rooms_->upgrade; }

Status Member::AcceptStore(const StoreIdentity& shown) { return rooms_->guard_loop.Accept(shown); }

}  // namespace carillon::scheduler
