// Builds each room of a member with its ports and options.
#include <utility>

#include "scheduler/fire/task_builder.h"
#include "scheduler/member/member_rooms.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {
namespace {

// Planning stops at three quarters of the capacity. The last quarter is for retries and takeovers.
constexpr size_t BacklogMax(size_t capacity) { return capacity / 4 * 3; }

}  // namespace

SegmentOwner Member::Rooms::MakeOwner() {
  return SegmentOwner({.clock = ports.clock,
                       .segments = ports.stores.segments,
                       .coordinator = ports.coordinator,
                       .cluster = cluster,
                       .table = segments,
                       .assignment = assignment,
                       .fences = fences,
                       .metrics = ports.metrics,
                       .store_trusted = [this] { return ports.guard.trusted(); }},
                      {.self = options.self.id,
                       .incarnation = options.self.incarnation,
                       .lease = options.lease,
                       .proof_every = options.proof_every,
                       .clock_offset_max = options.clock_offset_max,
                       .seed = seeds.Next()});
}

LeaderLoop Member::Rooms::MakeLeader() {
  return LeaderLoop({.clock = ports.clock,
                     .coordinator = ports.coordinator,
                     .segments = ports.stores.segments,
                     .metrics = ports.metrics,
                     .fit = [this] { return owner.clock_trusted(); },
                     .store_trusted = [this] { return ports.guard.trusted(); }},
                    {.self = options.self, .seed = seeds.Next()});
}

GuardLoop Member::Rooms::MakeGuardLoop() {
  return GuardLoop({.clock = ports.clock,
                    .identity = ports.identity,
                    .coordinator = ports.coordinator,
                    .guard = ports.guard,
                    .metrics = ports.metrics,
                    .suspend = [this] { SuspendSegments(); },
                    .forget = [this] { ForgetStore(); },
                    .trusted =
                        [wake_owner = Waker("owner"), wake_leader = Waker("leader")] {
                          wake_leader();
                          wake_owner();
                        }});
}

SettingsFollower Member::Rooms::MakeSettings() {
  return SettingsFollower({.coordinator = ports.coordinator,
                           .store = ports.stores.settings,
                           .settings = ports.settings,
                           .metrics = ports.metrics},
                          [this] { return leader.is_leader(); });
}

Takeover Member::Rooms::MakeTakeover() {
  return Takeover(
      {.clock = ports.clock,
       .store = ports.stores.firing,
       .segments = segments,
       .leases = leases,
       .applied = applied,
       .metrics = ports.metrics},
      {.lease = options.lease, .margin = options.takeover_loss_margin, .seed = seeds.Next()});
}

LossPorts Member::Rooms::ForLosses() {
  return {.clock = ports.clock,
          .store = ports.stores.firing,
          .cluster = cluster,
          .segments = segments,
          .fences = fences,
          .leases = leases,
          .feed = feed,
          .events = events,
          .metrics = ports.metrics,
          .signals = signals};
}

LeaseReaper Member::Rooms::MakeReaper() {
  return LeaseReaper(ForLosses(), seeds.Next(), &presumed);
}

OwnerPorts Member::Rooms::ForOwner() {
  return {.cluster = cluster,
          .segments = segments,
          .fences = fences,
          .settings = ports.settings,
          .signals = signals,
          .metrics = ports.metrics};
}

AdmissionLoop Member::Rooms::MakeAdmission() {
  return AdmissionLoop({.owner = ForOwner(),
                        .queues = ports.stores.queues,
                        .firing = ports.stores.firing,
                        .feed = feed});
}

BackfillLoop Member::Rooms::MakeBackfill() {
  return BackfillLoop({.owner = ForOwner(), .store = ports.stores.backfills, .feed = feed},
                      options.tuning.retention);
}

CompletionLoop Member::Rooms::MakeCompletions() {
  return CompletionLoop({.owner = ForOwner(), .store = ports.stores.completions});
}

WorkflowLoop Member::Rooms::MakeWorkflows() {
  return WorkflowLoop({.owner = ForOwner(), .store = ports.stores.workflows});
}

BeginLoop Member::Rooms::MakeBegins() {
  return BeginLoop({.owner = ForOwner(),
                    .store = ports.stores.workflows,
                    .upgrade = upgrade,
                    .has_step =
                        [this] {
                          workflows.Nudge();
                          WakeOf("workflow").Wake();
                        },
                    .begun =
                        [this](const RunKey& key) {
                          events.Push({{}, {{.what = RunEvent::What::kBegun, .key = key}}});
                        },
                    .not_begun =
                        [this](const RunKey& key) {
                          events.Push({{}, {{.what = RunEvent::What::kNotBegun, .key = key}}});
                        }});
}

PauseWatch Member::Rooms::MakePauses() {
  return PauseWatch({.owner = ForOwner(), .store = ports.stores.streaks, .upgrade = upgrade});
}

UpstreamWaits Member::Rooms::MakeUpstreamWaits() {
  return UpstreamWaits({.owner = ForOwner(),
                        .store = ports.stores.upstream,
                        .firing = ports.stores.firing,
                        .feed = feed,
                        .upgrade = upgrade});
}

LetterPublisher Member::Rooms::MakeLetters() {
  return LetterPublisher({.store = ports.stores.letters,
                          .producer = ports.letters == nullptr ? ports.producer : *ports.letters,
                          .upgrade = upgrade,
                          .cluster = cluster,
                          .metrics = ports.metrics,
                          .is_leader = [this] { return leader.is_leader(); },
                          .wake = Waker("backfill")},
                         options.dead_letter_topic, options.seed);
}

void Member::Rooms::MakeEventReader() {
  if (ports.event_topics == nullptr || options.event_topics.empty()) return;
  event_reader = std::make_unique<EventReader>(
      EventReader::Ports{.clock = ports.clock,
                         .store = ports.stores.events,
                         .topics = *ports.event_topics,
                         .upgrade = upgrade,
                         .cluster = cluster,
                         .signals = signals,
                         .metrics = ports.metrics,
                         .may_read = [this] { return leader.is_leader() && ports.guard.trusted(); },
                         .wake = Waker("events")},
      options.event_topics, options.seed);
}

CancelPusher Member::Rooms::MakeCancels() {
  return CancelPusher({.store = ports.stores.firing,
                       .segments = segments,
                       .leases = leases,
                       .executors = executors,
                       .hub = ports.hub,
                       .metrics = ports.metrics,
                       .given_up = &given_up});
}

ExecutorRegistry Member::Rooms::MakeRegistry() {
  return ExecutorRegistry({.clock = ports.clock,
                           .store = ports.stores.executors,
                           .hub = ports.hub,
                           .cluster = cluster,
                           .executors = executors,
                           .registers = registers,
                           .settings = ports.settings,
                           .metrics = ports.metrics,
                           .writes_health = [this] { return leader.is_leader(); },
                           .executors_changed = Wakers({"fire", "link"})},
                          {.heartbeat = options.heartbeat,
                           .write_every = options.executor_write_every,
                           .lost_after = options.executor_lost});
}

FiringLoop Member::Rooms::MakeFiring() {
  return FiringLoop(
      {.clock = ports.clock,
       .cluster = cluster,
       .segments = segments,
       .leases = leases,
       .executors = executors,
       .definitions = definitions,
       .feed = feed,
       .events = events,
       .loads = loads,
       .skips = skips,
       .producer = ports.producer,
       .signer = ports.signer,
       .metrics = ports.metrics,
       .settings = ports.settings,
       .signals = signals,
       .begin_workflow =
           [this](const PendingRun& run, const Definition& definition) {
             const JobDefinition& job = definition.job();
             const Duration late_after = FansOut(job) ? LateLimitOf(&definition) : Duration{};
             DueWorkflow due = ToDue(run, job, late_after);
             due.rendered = PlacesByTemplate(run, definition);
             const bool taken = begins.Add(std::move(due)).ok();
             if (taken) {
               WakeOf("begin").Wake();
             } else {
               ports.metrics.counter("carillon_queue_rejections_total", "workflow").Add();
             }
             return taken;
           },
       .members = [this] { return assignment.Members(); },
       .bus_answers = [this] { return gauges.BusAnswers(); },
       .host_down_for =
           [this](const PendingRun& run, const Definition& definition) {
             return registry.stored_hosts().UnableFor(
                 run.extras->pinned_executor, definition.NeedsOf(run.key), definition.job().handler,
                 ports.clock.Steady());
           },
       .host_left =
           [this](const PendingRun& run, const Definition& definition, SteadyTime since) {
             const Selector* selector = definition.selector();
             return selector != nullptr &&
                    registry.stored_hosts().Excludes(*selector, run.extras->pinned_executor, since,
                                                     ports.clock.Steady());
           }},
      {.self = options.self.id,
       .capacity = options.wheel_capacity,
       .dispatch_timeout = options.tuning.dispatch_timeout,
       .dispatch_interval = options.dispatch_interval,
       .dispatch_per_step = options.dispatch_per_step,
       .ageing_per_priority = options.ageing_per_priority,
       .prefetch_max = options.prefetch_max,
       .seed = seeds.Next(),
       .bus_format = options.tuning.bus_format,
       .overload = options.tuning.overload});
}

SegmentPlanner Member::Rooms::MakePlanner() {
  return SegmentPlanner(
      {.clock = ports.clock,
       .store = ports.stores.firing,
       .calendars = calendars,
       .cluster = cluster,
       .segments = segments,
       .fences = fences,
       .feed = feed,
       .metrics = ports.metrics,
       .settings = ports.settings,
       .backlog = [this] { return firing.backlog(); },
       .busy = [this] { return firing.due() > kBatchRowsMax; },
       .warm = [this](const std::vector<PendingRun>& runs) { WarmDefinitions(runs); }},
      {.horizon = options.tuning.horizon,
       .scan_every = options.scan_every,
       .batches_per_step = options.plan_batches_per_step,
       .schedules_cached = options.schedule_cache_max,
       .backlog_max = BacklogMax(options.wheel_capacity),
       .seed = seeds.Next()});
}

Sweep Member::Rooms::MakeSweep() {
  return Sweep({.clock = ports.clock,
                .store = ports.stores.firing,
                .cluster = cluster,
                .segments = segments,
                .feed = feed,
                .metrics = ports.metrics,
                .in_memory = [this] { return firing.due(); },
                .warm = [this](const std::vector<PendingRun>& runs) { WarmDefinitions(runs); },
                .gone =
                    [this](const RunKey& key) {
                      events.Push({{}, {{.what = RunEvent::What::kGone, .key = key}}});
                    }},
               {.every = options.scan_every,
                .horizon = options.tuning.horizon,
                .overdue_after = options.tuning.dispatch_timeout,
                .seed = seeds.Next()});
}

SkipWriter Member::Rooms::MakeSkipWriter() {
  return SkipWriter({.clock = ports.clock,
                     .store = ports.stores.firing,
                     .cluster = cluster,
                     .segments = segments,
                     .fences = fences,
                     .queue = skips,
                     .metrics = ports.metrics,
                     .written = [this](const SkipRequest& skip) { firing.NoteSkipped(skip); }},
                    seeds.Next());
}

LinkService Member::Rooms::MakeLink() {
  return LinkService({.clock = ports.clock,
                      .hub = ports.hub,
                      .cluster = cluster,
                      .leases = leases,
                      .executors = executors,
                      .applied = applied,
                      .settings = ports.settings,
                      .claims = claims,
                      .registers = registers,
                      .progress = progress,
                      .checkpoints = checkpoints,
                      .metrics = ports.metrics,
                      .executors_changed = Waker("fire"),
                      .state_changed = Waker("recover")},
                     {.lease = options.lease, .heartbeat = options.heartbeat});
}

ClaimApplier Member::Rooms::MakeClaimApplier() {
  return ClaimApplier(
      {.clock = ports.clock,
       .store = ports.stores.firing,
       .cluster = cluster,
       .segments = segments,
       .fences = fences,
       .leases = leases,
       .applied = applied,
       .hub = ports.hub,
       .claims = claims,
       .events = events,
       .metrics = ports.metrics,
       .definitions = definitions,
       .executors = executors,
       .checkpoints = ports.stores.checkpoints,
       .checkpoint_answers = checkpoint_answers,
       .secrets = ports.secrets,
       .settings = ports.settings,
       .assigned = assignment,
       .late_after = [this](const ClaimRequest& request) { return LateLimit(request); },
       .queued_in_timed_group = [this] { signals.slot_freed.Raise(); }},
      {.lease = options.lease, .interval = options.claim_interval});
}

void Member::Rooms::MakeNotify() {
  if (ports.sender == nullptr) return;
  notifier = std::make_unique<Notifier>(Notifier::Ports{.clock = ports.clock,
                                                        .store = ports.stores.notices,
                                                        .cluster = cluster,
                                                        .segments = segments,
                                                        .fences = fences,
                                                        .sender = *ports.sender,
                                                        .metrics = ports.metrics});
  std::vector<Stepper*> steppers = {notifier.get()};
  if (ports.sender->options().enabled()) {
    late_watch = std::make_unique<LateWatch>(
        LateWatch::Ports{.firing = ports.stores.firing,
                         .notices = ports.stores.notices,
                         .cluster = cluster,
                         .segments = segments,
                         .fences = fences,
                         .metrics = ports.metrics},
        [this](const std::vector<const RunRow*>& runs) { return LateLimits(runs); });
    steppers.push_back(late_watch.get());
    shed_watch = std::make_unique<ShedWatch>(ShedWatch::Ports{.notices = ports.stores.notices,
                                                              .cluster = cluster,
                                                              .segments = segments,
                                                              .fences = fences},
                                             [this] { return LastStorm(); });
    steppers.push_back(shed_watch.get());
  }
  notify_loop = std::make_unique<SequenceStepper>(steppers);
}

ShedStorm Member::Rooms::LastStorm() {
  const Storm storm = firing.storm();
  ShedStorm last{.number = storm.number};
  if (!storm.newest || !upgrade.FeatureOn(kFanOutMigration)) return last;
  last.newest = Notice{.kind = NoticeKind::kShed,
                       .segment = storm.newest->segment,
                       .job_no = storm.newest->job_no,
                       .key = storm.newest->key,
                       .state = RunState::kSkipped,
                       .reason = std::string(reason::kShed)};
  return last;
}

std::vector<Duration> Member::Rooms::LateLimits(const std::vector<const RunRow*>& runs) {
  const NotifyDefaults& defaults = ports.sender->options().defaults;
  std::vector<RunDefinitionKey> keys;
  for (const RunRow* run : runs) keys.push_back(DefinitionKeyOf(*run));
  std::vector<Duration> limits(keys.size());
  const auto found = definitions.Load(keys);
  if (!found.ok()) return limits;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto place = found->definitions.find(keys[i]);
    if (place == found->definitions.end()) continue;
    limits[i] = LateNoticeAfter(place->second->job().notify, defaults);
  }
  return limits;
}

// Uses the cached definition. For runs that this member dispatched, it normally exists. If there is
// none, as for runs that an earlier owner dispatched, the cluster's defaults apply.
Duration Member::Rooms::LateLimit(const ClaimRequest& request) {
  return LateLimitOf(definitions.Get(DefinitionKeyOf(request)).get());
}

Duration Member::Rooms::LateLimitOf(const Definition* definition) {
  if (ports.sender == nullptr || !ports.sender->options().enabled()) return {};
  return LateNoticeAfter(definition != nullptr ? definition->job().notify : NotifyRules{},
                         ports.sender->options().defaults);
}

ResultApplier Member::Rooms::MakeResultApplier() {
  return ResultApplier(
      {.clock = ports.clock,
       .store = ports.stores.firing,
       .cluster = cluster,
       .segments = segments,
       .fences = fences,
       .leases = leases,
       .applied = applied,
       .executors = executors,
       .hub = ports.hub,
       .results = ports.results,
       .producer = ports.producer,
       .feed = feed,
       .events = events,
       .metrics = ports.metrics,
       .assigned = assignment,
       .signals = signals,
       .backfilled = [this](const RunKey& key) { return backfill.IsBackfilled(key); }},
      {.interval = options.result_interval,
       .records_held_max = options.result_records_held_max,
       .bytes_held_max = options.result_bytes_held_max,
       .seed = seeds.Next()});
}

LogKeeper Member::Rooms::MakeLogKeeper() {
  return LogKeeper({.clock = ports.clock,
                    .store = ports.stores.logs,
                    .logs = ports.logs,
                    .executors = executors,
                    .hub = ports.hub,
                    .metrics = ports.metrics,
                    .assigned = assignment},
                   {.seed = seeds.Next()});
}

}  // namespace carillon::scheduler
