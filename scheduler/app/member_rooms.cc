#include "scheduler/app/member_rooms.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kAppliedRemembered = 200'000;
constexpr size_t kEventBatchesMax = 16'384;
constexpr size_t kLoadsMax = 10'000;
constexpr size_t kSkipBatchesMax = 1'024;
constexpr size_t kRegistersMax = 1'024;

// Planning stops at three quarters of what memory holds: the rest is for retries and takeovers.
constexpr size_t BacklogMax(size_t capacity) { return capacity / 4 * 3; }

std::map<std::string, std::shared_ptr<WakeSlot>> MakeWakes() {
  std::map<std::string, std::shared_ptr<WakeSlot>> wakes;
  for (const char* name :
       {"owner", "leader", "recover", "plan", "fire", "link", "claims", "results", "maintain"}) {
    wakes.emplace(name, std::make_shared<WakeSlot>());
  }
  return wakes;
}

}  // namespace

Member::Rooms::Rooms(const MemberPorts& p, const MemberOptions& o)
    : ports(p),
      options(o),
      seeds(o.seed),
      wakes(MakeWakes()),
      cluster(p.clock),
      segments(o.proof_max_age),
      fences(p.clock, p.segments, segments, p.metrics),
      leases({.lease = o.lease, .own_loss_margin = o.own_loss_margin, .leases_max = o.leases_max},
             segments),
      executors({.health = {.heartbeat = o.heartbeat, .lost_after = o.executor_lost},
                 .incarnation_wait = o.incarnation_wait}),
      applied(kAppliedRemembered),
      definitions(p.firing, {.entries_max = o.definition_cache_max,
                             .bytes_max = o.definition_cache_bytes_max}),
      feed("feed", o.feed_batches_max),
      events("events", kEventBatchesMax),
      loads("loads", kLoadsMax),
      skips("skips", kSkipBatchesMax),
      claims("claims", o.claim_queue_max),
      registers("registers", kRegistersMax),
      owner({.clock = p.clock,
             .segments = p.segments,
             .coordinator = p.coordinator,
             .cluster = cluster,
             .table = segments,
             .fences = fences,
             .metrics = p.metrics},
            {.self = o.self.id,
             .incarnation = o.self.incarnation,
             .proof_every = o.proof_every,
             .clock_offset_max = o.clock_offset_max,
             .seed = seeds.Next()}),
      leader(
          p.clock, p.coordinator, p.segments, p.metrics,
          {.self = o.self, .seed = seeds.Next(), .fit = [this] { return owner.clock_trusted(); }}),
      takeover({.clock = p.clock,
                .store = p.firing,
                .segments = segments,
                .leases = leases,
                .applied = applied,
                .metrics = p.metrics},
               {.lease = o.lease, .margin = o.takeover_loss_margin, .seed = seeds.Next()}),
      reaper({.clock = p.clock,
              .store = p.firing,
              .cluster = cluster,
              .segments = segments,
              .fences = fences,
              .leases = leases,
              .feed = feed,
              .events = events,
              .metrics = p.metrics},
             seeds.Next()),
      cancels({.store = p.firing,
               .segments = segments,
               .leases = leases,
               .executors = executors,
               .hub = p.hub,
               .metrics = p.metrics}),
      registry({.clock = p.clock,
                .store = p.executors,
                .hub = p.hub,
                .cluster = cluster,
                .executors = executors,
                .registers = registers,
                .metrics = p.metrics},
               {.write_every = o.executor_write_every,
                .lost_after = o.executor_lost,
                .writes_health = [this] { return leader.is_leader(); },
                .executors_changed = Waker("fire")}),
      firing({.clock = p.clock,
              .cluster = cluster,
              .segments = segments,
              .leases = leases,
              .executors = executors,
              .definitions = definitions,
              .feed = feed,
              .events = events,
              .loads = loads,
              .skips = skips,
              .producer = p.producer,
              .signer = p.signer,
              .metrics = p.metrics},
             {.self = o.self.id,
              .capacity = o.wheel_capacity,
              .dispatch_timeout = o.dispatch_timeout,
              .dispatch_gap = o.dispatch_gap,
              .dispatch_per_step = o.dispatch_per_step,
              .ageing_per_priority = o.ageing_per_priority,
              .prefetch_max = o.prefetch_max,
              .look_again =
                  [this] {
                    sweep.NudgeDue();
                    WakeOf("plan").Wake();
                  }}),
      planner({.clock = p.clock,
               .store = p.firing,
               .cluster = cluster,
               .segments = segments,
               .fences = fences,
               .feed = feed,
               .metrics = p.metrics},
              {.look = o.horizon / 2,
               .horizon = o.horizon,
               .scan_every = o.scan_every,
               .batches_per_step = o.plan_batches_per_step,
               .schedules_cached = o.schedule_cache_max,
               .backlog_max = BacklogMax(o.wheel_capacity),
               .backlog = [this] { return firing.backlog(); },
               .warm = [this](const std::vector<PendingRun>& runs) { WarmDefinitions(runs); },
               .seed = seeds.Next()}),
      sweep({.clock = p.clock,
             .store = p.firing,
             .cluster = cluster,
             .segments = segments,
             .feed = feed,
             .metrics = p.metrics},
            {.every = o.scan_every,
             .horizon = o.horizon,
             .backlog = [this] { return firing.ready(); },
             .warm = [this](const std::vector<PendingRun>& runs) { WarmDefinitions(runs); },
             .seed = seeds.Next()}),
      parameters(p.firing, loads, feed, p.metrics),
      skip_writer({.clock = p.clock,
                   .store = p.firing,
                   .cluster = cluster,
                   .segments = segments,
                   .fences = fences,
                   .queue = skips,
                   .metrics = p.metrics},
                  seeds.Next()),
      link({.clock = p.clock,
            .hub = p.hub,
            .cluster = cluster,
            .leases = leases,
            .executors = executors,
            .applied = applied,
            .claims = claims,
            .registers = registers,
            .metrics = p.metrics},
           {.lease = o.lease, .executors_changed = Waker("fire")}),
      claim_applier({.clock = p.clock,
                     .store = p.firing,
                     .cluster = cluster,
                     .segments = segments,
                     .fences = fences,
                     .leases = leases,
                     .applied = applied,
                     .hub = p.hub,
                     .claims = claims,
                     .events = events,
                     .metrics = p.metrics},
                    {.lease = o.lease,
                     .gather = o.claim_gather,
                     .wants = [this](SegmentId segment) { return owner.Wants(segment); }}),
      result_applier({.clock = p.clock,
                      .store = p.firing,
                      .cluster = cluster,
                      .segments = segments,
                      .fences = fences,
                      .leases = leases,
                      .applied = applied,
                      .executors = executors,
                      .hub = p.hub,
                      .results = p.results,
                      .producer = p.producer,
                      .feed = feed,
                      .events = events,
                      .metrics = p.metrics},
                     {.gather = o.result_gather,
                      .records_held_max = o.result_records_held_max,
                      .wants = [this](SegmentId segment) { return owner.Wants(segment); },
                      .seed = seeds.Next()}),
      maintenance(p.admin, p.firing, cluster, p.metrics,
                  {.every = o.maintain_every, .retention = o.retention}),
      gauges(p.metrics),
      recover_loop({&takeover, &reaper, &registry, &cancels}),
      plan_loop({&planner, &sweep, &parameters, &skip_writer}),
      maintain_loop({&gauges, &maintenance}) {
  ConnectWakes();
}

Member::Rooms::~Rooms() {
  for (auto& [name, wake] : wakes) wake->Clear();
}

std::function<void()> Member::Rooms::Waker(const std::string& loop) {
  return [wake = wakes.at(loop)] { wake->Wake(); };
}

void Member::Rooms::ConnectWakes() {
  feed.OnPush(Waker("fire"));
  events.OnPush(Waker("fire"));
  loads.OnPush(Waker("plan"));
  skips.OnPush(Waker("plan"));
  claims.OnPush(Waker("claims"));
  registers.OnPush(Waker("recover"));
  const auto all = [this](std::initializer_list<const char*> loops) {
    std::vector<std::function<void()>> wakers;
    for (const char* loop : loops) wakers.push_back(Waker(loop));
    return [wakers] {
      for (const auto& wake : wakers) wake();
    };
  };
  segments.OnChange(all({"owner", "recover", "plan", "fire", "results"}));
  ports.hub.OnReadable(Waker("link"));
  ports.results.OnReadable(Waker("results"));
  ports.coordinator.OnChange(all({"owner", "leader"}));
  gauges.Watch(feed);
  gauges.Watch(events.queue());
  gauges.Watch(loads);
  gauges.Watch(skips);
  gauges.Watch(claims);
  gauges.Watch(registers);
}

// Best effort: what is not read here is read by the firing loop when the run is due.
void Member::Rooms::WarmDefinitions(const std::vector<PendingRun>& runs) {
  std::vector<JobVersionKey> keys;
  keys.reserve(runs.size());
  for (const PendingRun& run : runs) keys.push_back({run.job_no, run.def_version});
  const auto loaded = definitions.Load(keys);
  if (!loaded.ok()) {
    ports.metrics.counter("carillon_store_errors_total", ErrorCodeName(loaded.code())).Add();
  }
}

}  // namespace carillon::scheduler
