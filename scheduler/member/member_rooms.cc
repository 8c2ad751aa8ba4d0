#include "scheduler/member/member_rooms.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kAppliedRemembered = 200'000;
constexpr size_t kEventBatchesMax = 16'384;
constexpr size_t kLoadsMax = 10'000;
constexpr size_t kSkipBatchesMax = 1'024;
constexpr size_t kRegistersMax = 16'384;
constexpr size_t kProgressMax = 8'192;
constexpr size_t kCheckpointsMax = 64;
constexpr size_t kCheckpointAnswersMax = 8'192;
// After three missed readings the store counts as unavailable.
constexpr Duration kOverdueStale = 3 * Maintenance::kLookEvery;

std::map<std::string, std::shared_ptr<WakeSlot>> MakeWakes() {
  std::map<std::string, std::shared_ptr<WakeSlot>> wakes;
  for (const char* name : {"owner", "proof", "leader", "guard", "recover", "plan", "fire", "link",
                           "claims", "results", "logs", "saves", "admission", "begin", "workflow",
                           "backfill", "maintain", "notify", "events"}) {
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
      assignment(p.coordinator, segments, o.self.id),
      fences(p.clock, p.stores.segments, segments, p.metrics),
      leases({.lease = o.lease, .own_loss_margin = o.own_loss_margin, .leases_max = o.leases_max},
             segments),
      executors({.health = {.heartbeat = o.heartbeat, .lost_after = o.executor_lost},
                 .incarnation_wait = o.incarnation_wait,
                 .quiet_each = o.quiet_each}),
      applied(kAppliedRemembered),
      calendars(p.stores.calendars),
      definitions(
          p.clock, p.stores.firing,
          {.entries_max = o.definition_cache_max, .bytes_max = o.definition_cache_bytes_max},
          &calendars),
      feed("feed", o.feed_batches_max),
      events("events", kEventBatchesMax),
      loads("loads", kLoadsMax),
      skips("skips", kSkipBatchesMax),
      claims("claims", o.claim_queue_max),
      registers("registers", kRegistersMax),
      progress("progress", kProgressMax),
      checkpoints("checkpoints", kCheckpointsMax),
      checkpoint_answers("checkpoint_answers", kCheckpointAnswersMax),
      owner(MakeOwner()),
      session_proof(p.clock, p.coordinator, segments, assignment),
      leader(MakeLeader()),
      settings(MakeSettings()),
      upgrade({.coordinator = p.coordinator, .store = p.schema}),
      guard_loop(MakeGuardLoop()),
      takeover(MakeTakeover()),
      presumed(ForLosses(), p.settings),
      reaper(MakeReaper()),
      given_up(ForLosses()),
      cancels(MakeCancels()),
      admission(MakeAdmission()),
      completions(MakeCompletions()),
      workflows(MakeWorkflows()),
      begins(MakeBegins()),
      backfill(MakeBackfill()),
      pauses(MakePauses()),
      upstream_waits(MakeUpstreamWaits()),
      letters(MakeLetters()),
      registry(MakeRegistry()),
      firing(MakeFiring()),
      planner(MakePlanner()),
      sweep(MakeSweep()),
      parameters(p.stores.firing, loads, feed, p.metrics),
      skip_writer(MakeSkipWriter()),
      link(MakeLink()),
      claim_applier(MakeClaimApplier()),
      result_applier(MakeResultApplier()),
      log_keeper(MakeLogKeeper()),
      save_keeper({.clock = p.clock,
                   .store = p.stores.checkpoints,
                   .cluster = cluster,
                   .segments = segments,
                   .fences = fences,
                   .hub = p.hub,
                   .progress = progress,
                   .checkpoints = checkpoints,
                   .metrics = p.metrics}),
      checkpoint_reader({.store = p.stores.checkpoints, .hub = p.hub, .queue = checkpoint_answers}),
      overdue(p.clock, p.metrics, kOverdueStale),
      maintenance(
          {.clock = p.clock,
           .housekeeping = p.stores.housekeeping,
           .firing = p.stores.firing,
           .cluster = cluster,
           .overdue = overdue,
           .metrics = p.metrics,
           .store_trusted = [this] { return ports.guard.trusted(); }},
          {.every = o.maintain_every,
           .retention = {.runs = o.tuning.retention, .keep_last = o.tuning.keep_last_runs}}),
      gauges(p.metrics),
      leader_loop({&leader, &settings, &upgrade}),
      link_loop({&link, &overdue}),
      recover_loop({&takeover, &reaper, &presumed, &registry, &cancels}),
      admission_loop({&admission, &completions}),
      backfill_loop({&backfill, &pauses, &upstream_waits, &letters}),
      plan_loop({&planner, &sweep, &parameters, &skip_writer}),
      saves_loop({&checkpoint_reader, &save_keeper}),
      maintain_loop({&gauges, &maintenance}) {
  MakeNotify();
  MakeEventReader();
  ConnectWakes();
  ConnectSignals();
}

Member::Rooms::~Rooms() {
  ports.guard.OnHold({});
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
  progress.OnPush(Waker("saves"));
  checkpoints.OnPush(Waker("saves"));
  checkpoint_answers.OnPush(Waker("saves"));
  segments.OnChange(Wakers({"owner", "recover", "plan", "fire", "results", "admission", "begin",
                            "workflow", "backfill"}));
  ports.hub.OnReadable(Waker("link"));
  ports.results.OnReadable(Waker("results"));
  ports.logs.OnReadable(Waker("logs"));
  ports.coordinator.OnChange(Wakers({"owner", "proof", "leader", "guard"}));
  // These loops use the settings: `leader` reports the pause to the coordinator, `link` sends
  // settings to the executors, and a pause stops `plan`, `fire`, `admission` and `backfill`.
  ports.settings.OnChange([wake = Wakers({"leader", "link", "plan", "fire", "admission",
                                          "backfill"})](const ClusterSettings&) { wake(); });
  ports.guard.OnHold([this] {
    SuspendSegments();
    ports.metrics.gauge("carillon_store_held").Set(1);
  });
  gauges.Watch(feed.queue());
  gauges.Watch(events.queue());
  gauges.Watch(loads);
  gauges.Watch(skips);
  gauges.Watch(claims);
  gauges.Watch(registers);
  gauges.Watch(progress);
  gauges.Watch(checkpoints);
  gauges.Watch(checkpoint_answers);
  gauges.Watch(kResultsTopic, ports.results);
  gauges.Watch(kLogsTopic, ports.logs);
}

void Member::Rooms::ConnectSignals() {
  signals.slot_freed.Connect([this] {
    admission.Nudge();
    WakeOf("admission").Wake();
  });
  signals.completed.Connect([this] {
    // This room shares the loop of admission: it has little to do, and a loop of its own would need
    // another connection to the store.
    completions.Nudge();
    WakeOf("admission").Wake();
    workflows.Nudge();
    WakeOf("workflow").Wake();
  });
  signals.ended.Connect([this](const std::vector<JobNo>& jobs) {
    if (backfill.Ended(jobs)) WakeOf("backfill").Wake();
  });
  signals.fires_soon.Connect([this] {
    planner.Nudge();
    WakeOf("plan").Wake();
  });
  signals.due.Connect([this](const ChangedWork& work) {
    sweep.Nudge(work);
    WakeOf("plan").Wake();
  });
  signals.dropped.Connect([this] {
    sweep.NudgeDue();
    WakeOf("plan").Wake();
  });
  signals.cancels_requested.Connect([this] {
    cancels.Nudge();
    WakeOf("recover").Wake();
  });
}

std::function<void()> Member::Rooms::Wakers(std::initializer_list<const char*> loops) {
  std::vector<std::function<void()>> wakers;
  for (const char* loop : loops) wakers.push_back(Waker(loop));
  return [wakers] {
    for (const auto& wake : wakers) wake();
  };
}

void Member::Rooms::SuspendSegments() {
  const auto view = segments.View();
  segments.Drop(view->FenceFor(view->Segments()), DropCause::kStoreHeld);
}

void Member::Rooms::ForgetStore() {
  SuspendSegments();
  ports.identity.Forget();
  calendars.Forget();
  definitions.Forget();
  applied.Forget();
  planner.Forget();
}

// Loads the definitions of the runs into the cache. An error is only counted. When a run is due and
// the cache does not have its definition, the firing loop reads the definition from the store.
void Member::Rooms::WarmDefinitions(const std::vector<PendingRun>& runs) {
  std::vector<RunDefinitionKey> keys;
  keys.reserve(runs.size());
  for (const PendingRun& run : runs) keys.push_back(DefinitionKeyOf(run));
  const auto loaded = definitions.Load(keys);
  if (!loaded.ok()) {
    ports.metrics.counter("carillon_store_errors_total", ErrorCodeName(loaded.code())).Add();
  }
}

}  // namespace carillon::scheduler
