#include "scheduler/fire/lane_dispatch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/workflow/node_rules.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/fire/firing_plan.h"
#include "scheduler/fire/task_builder.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kBusRetry = 10ms;
constexpr Duration kLookEvery = 100ms;
constexpr size_t kLooksPerLane = 1000;
// An executor with a free slot claims sooner.
constexpr Duration kMoveAfter = 1s;
constexpr size_t kMovesLookedAt = 200;
// Long enough for the runs that wait to show whether the executors claim again.
constexpr Duration kBeginsAnyway = 30s;
constexpr size_t kElsewhereMax = 1'000;  // selectors whose candidates are kept

std::string SkipError(const TrackedRun& tracked, std::string_view why) {
  if (why != reason::kNoExecutor) return {};
  return fmt::format("executor {} does not match the job any more",
                     tracked.run.extras->pinned_executor.value());
}

}  // namespace

LaneDispatch::LaneDispatch(const FiringPorts& ports, const FiringOptions& options,
                           RunPlaces& places, RunSkips& skips, LoadShedding& shedding)
    : ports_(ports),
      options_(options),
      places_(places),
      skips_(skips),
      shedding_(shedding),
      dispatch_delay_(ports.metrics.histogram("carillon_dispatch_delay_seconds")),
      dispatch_timeout_(options.dispatch_timeout),
      bus_format_(options.bus_format),
      router_(options.seed),
      dispatcher_(ports.producer, ports.signer, ports.metrics),
      pace_(options.dispatch_interval) {}

bool LaneDispatch::ReturnTimedOut(SteadyTime now) {
  bool suspected = false;
  ExecutorCredits& credits = places_.credits();
  const Duration timeout = dispatch_timeout_.load();
  places_.begun().Expire(now, timeout);
  while (!in_flight_.empty() && now - in_flight_.front().at >= timeout) {
    const PlaceNote note = in_flight_.front();
    in_flight_.pop_front();
    TrackedRun* tracked = places_.runs().Find(note.key, note.stamp);
    if (tracked == nullptr) continue;
    ports_.metrics.counter("carillon_dispatch_timeouts_total").Add();
    const ExecutorCredits::Index silent = std::exchange(tracked->executor, ExecutorCredits::kNone);
    if (credits.TimedOut(silent, tracked->slots)) {
      log::Warn(
          "fire",
          "executor claims none of its tasks; it gets one at a time until it does executor_id={}",
          credits.id(silent).value());
    }
    suspected |=
        ports_.executors.Suspect(credits.id(silent), credits.incarnation(silent), note.at, now);
    tracked->avoid = silent;
    if (credits.Silent(silent)) GiveUpTurn(*tracked, silent);
    places_.PutBack(*tracked, now);
  }
  return suspected;
}

// The executor may be unable to claim just this run, and gets one at a time: the next one is
// another, until each that waits had its turn. Backfilled runs get theirs after the second turn.
// The run itself may have been cancelled by another member meanwhile.
void LaneDispatch::GiveUpTurn(TrackedRun& tracked, ExecutorCredits::Index silent) {
  ports_.executors.SetClaimsNothing(places_.credits().id(silent), true);
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return;
  const bool again = ++tracked.probes > 1;
  tracked.behind = again ? *cluster_now + ReadyHeap::kBackgroundAfter : *cluster_now;
  ports_.signals.due.Raise({tracked.run.job_no, tracked.run.segment, tracked.run.key});
}

void LaneDispatch::ReturnFrom(ExecutorCredits::Index executor, SteadyTime now) {
  for (const PlaceNote& note : in_flight_) {
    TrackedRun* tracked = places_.runs().Find(note.key, note.stamp);
    if (tracked == nullptr || tracked->executor != executor) continue;
    places_.Release(*tracked);
    tracked->avoid = executor;
    places_.PutBack(*tracked, now);
  }
}

void LaneDispatch::LookAtWaiting(SteadyTime now) {
  const auto cluster_now = ports_.cluster.Now();
  if (now < next_look_ || !cluster_now) return;
  next_look_ = now + kLookEvery;
  const bool paused = ports_.settings.paused();
  const bool may_shed = shedding_.Follow();
  places_.lanes().Unblock();
  for (auto& [key, lane] : places_.lanes().all()) {
    places_.lanes().Prune(lane);
    // Of a fire that has not begun, the parts count once they wait: it is never shed itself.
    lane.served = may_shed && !paused && !key.begins && IsServed(key, lane);
    lane.shed_below = lane.served ? shedding_.BelowOf(key) : 0;
    if (paused) continue;
    LookAtLane(lane, *cluster_now, now);
    if (lane.served) shedding_.Observe(key, OldestWait(lane, *cluster_now), now);
  }
  if (may_shed) shedding_.EndLook(*cluster_now, now);
  if (!paused) MoveFromFull(now);
}

// A run that waits at an executor whose slots are all taken goes elsewhere, if another one has
// room. If the first one claims it meanwhile, the claim decides. `in_flight_` is ordered by time.
void LaneDispatch::MoveFromFull(SteadyTime now) {
  size_t looks = 0;
  for (const PlaceNote& note : in_flight_) {
    if (now - note.at < kMoveAfter || ++looks > kMovesLookedAt) return;
    TrackedRun* tracked = places_.runs().Find(note.key, note.stamp);
    if (tracked == nullptr || tracked->place != Place::kInFlight) continue;
    const ExecutorCredits::Index full = tracked->executor;
    if (!places_.credits().Full(full, tracked->slots) || !HasOtherRoom(*tracked)) continue;
    ports_.metrics.counter("carillon_runs_moved_total").Add();
    places_.Release(*tracked);
    tracked->avoid = full;
    places_.PutBack(*tracked, now);
  }
}

bool LaneDispatch::HasOtherRoom(const TrackedRun& tracked) {
  const Definition& definition = *tracked.definition;
  const auto& extras = tracked.run.extras;
  const bool pinned =
      !definition.job().executor_id.empty() || (extras && !extras->pinned_executor.empty());
  if (pinned) return false;
  const ExecutorCredits& credits = places_.credits();
  if (elsewhere_.size() >= kElsewhereMax) elsewhere_.clear();
  const Features needs = definition.NeedsOf(tracked.run.key);
  Candidates& candidates = elsewhere_[{definition.job().executor_selector, needs}];
  candidates.Follow(credits, definition.selector(), needs);
  const IndexSet& open = credits.open(tracked.slots);
  auto other = open.FirstIn(candidates.all(), 0);
  if (other == tracked.executor) other = open.FirstIn(candidates.all(), *other + 1);
  return other.has_value();
}

// Runs that wait for executors that are away or do not claim are no sign of too much load.
bool LaneDispatch::IsServed(const ReadyLanes::Key& key, const ReadyLanes::Lane& lane) const {
  const ExecutorCredits& credits = places_.credits();
  if (!key.pinned.empty()) {
    const ExecutorCredits::Index at = credits.Find(key.pinned);
    return at != ExecutorCredits::kNone && credits.Serves(at, key.slots);
  }
  // The last dispatch, which tried each lane, has followed the candidates.
  return lane.candidates.all().Any([&](size_t at) { return credits.Serves(at, key.slots); });
}

Duration LaneDispatch::OldestWait(const ReadyLanes::Lane& lane, WallTime cluster_now) const {
  return lane.oldest ? std::max(cluster_now - lane.oldest->due, Duration::zero()) : Duration{};
}

// Checks a bounded number of entries; the next call continues after them.
void LaneDispatch::LookAtLane(ReadyLanes::Lane& lane, WallTime cluster_now, SteadyTime now) {
  const std::vector<ReadyHeap::Entry>& entries = lane.heap.entries();
  const size_t looks = std::min(entries.size(), kLooksPerLane);
  if (lane.oldest && places_.runs().Find(lane.oldest->key, lane.oldest->stamp) == nullptr) {
    lane.oldest.reset();
  }
  for (size_t i = 0; i < looks && !skips_.full(); ++i) {
    lane.look_at = lane.look_at + 1 < entries.size() ? lane.look_at + 1 : 0;
    const ReadyHeap::Entry& entry = entries[lane.look_at];
    TrackedRun* tracked = places_.runs().Find(entry.key, entry.stamp);
    if (tracked == nullptr) continue;
    // A run that executors do not claim, or that gives way to all others, says nothing about load.
    const bool counts = lane.served && tracked->probes == 0 && !IsBackground(tracked->run.flags);
    if (counts && (!lane.oldest || entry.due < lane.oldest->due)) lane.oldest = entry;
    const bool may_be_shed = tracked->run.priority < lane.shed_below;
    if (!may_be_shed && !AgesOut(tracked->run, *tracked->definition)) continue;
    const std::string_view why = Judge(*tracked, lane, cluster_now);
    if (!why.empty()) skips_.Skip(*tracked, why, now, SkipError(*tracked, why));
  }
}

std::string_view LaneDispatch::Judge(const TrackedRun& tracked, const ReadyLanes::Lane& lane,
                                     WallTime cluster_now) const {
  const bool skips = tracked.definition->job().overlap_policy == OverlapPolicy::kSkip;
  const int64_t others = skips ? ports_.leases.OtherRuns(tracked.run.job_no, tracked.run.key) : 0;
  // Until a run has waited so long, an executor may become free for it.
  FiringFacts facts{.now = cluster_now,
                    .other_runs = others,
                    .shed_below = lane.shed_below,
                    .shed_after = OverloadMeter::kCalm};
  if (IsBoundPart(tracked.run)) {
    facts.host_down_for = ports_.host_down_for(tracked.run, *tracked.definition);
    facts.host_left = ports_.host_left(tracked.run, *tracked.definition, tracked.since);
  }
  return DecideFiring(tracked.run, *tracked.definition, facts);
}

void LaneDispatch::Dispatch(SteadyTime now) {
  more_ready_ = false;
  skips_full_ = false;
  const auto cluster_now = ports_.cluster.Now();
  const bool paused = ports_.settings.paused() && !failpoint::Broken("pause.publish");
  if (!cluster_now || now < dispatch_pause_ || paused) return;
  // Under load, tasks are collected for an interval, so that many tasks share one signature
  // and one record.
  if (now < next_allowed()) {
    more_ready_ = places_.runs().count(Place::kReady) > 0;
    return;
  }
  if (std::exchange(openings_, places_.credits().openings()) != places_.credits().openings()) {
    places_.lanes().Unblock();
  }
  dispatcher_.SetFormat(bus_format_.load());
  router_.BeginRound();
  size_t published = 0;
  while (auto* best = places_.lanes().Best()) {
    if (skips_.full()) {
      skips_full_ = true;
      break;
    }
    if (published >= options_.dispatch_per_step) {
      more_ready_ = true;
      break;
    }
    if (DispatchTop(*best, *cluster_now, now)) ++published;
  }
  if (published > 0) pace_.Began(now, published, ports_.members());
  TakeBack(dispatcher_.Flush(places_.credits(), *cluster_now), now);
}

// Dispatches, begins or skips the lane's first run, or blocks the lane. Returns true if the run
// was published or begun.
bool LaneDispatch::DispatchTop(std::pair<const ReadyLanes::Key, ReadyLanes::Lane>& best,
                               WallTime cluster_now, SteadyTime now) {
  auto& [key, lane] = best;
  ExecutorCredits& credits = places_.credits();
  TrackedRun& tracked = *places_.runs().Find(lane.heap.Top().key);
  const std::string_view why = Judge(tracked, lane, cluster_now);
  if (!why.empty()) {
    skips_.Skip(tracked, why, now, SkipError(tracked, why));
    return false;
  }
  const bool selects = !key.selector.empty();
  uint64_t place = 0;
  if (tracked.definition->job().routing == Routing::kConsistentHash) {
    const auto found = RoutingPlace(tracked.run, *tracked.definition);
    // A key without a value is found again by BuildTask, which skips the run.
    place = found.ok() ? *found : 0;
  }
  const auto executor =
      router_.Pick(credits,
                   {.slots = key.slots,
                    .routing = tracked.definition->job().routing,
                    .pinned = key.pinned,
                    .selector = selects ? tracked.definition->selector() : nullptr,
                    .needs = key.needs,
                    .avoid = tracked.avoid,
                    .place = place},
                   lane.candidates);
  if (!executor) {
    if (lane.unclaimed_since && !AwaitsClaims(key, lane)) lane.unclaimed_since.reset();
    places_.lanes().Block(best);
    return false;
  }
  if (key.begins) return BeginTop(best, tracked, *executor, now);
  auto task = BuildTask(tracked.run, *tracked.definition, options_.self, cluster_now);
  if (!task.ok()) {
    log::Warn("fire", "run {} cannot be dispatched: {}", EncodeRunId(tracked.run.key),
              task.error().message);
    const bool unsafe = task.error().code == ErrorCode::kDenied;
    skips_.Skip(tracked, unsafe ? reason::kUnsafeParameter : reason::kBadDefinition, now,
                task.error().message);
    return false;
  }
  lane.heap.Pop();
  dispatch_delay_.Observe(std::chrono::duration<double>(cluster_now - tracked.run.due).count());
  const uint32_t stamp = places_.runs().Move(tracked, Place::kInFlight, now);
  tracked.executor = *executor;
  tracked.charge = {};
  credits.Published(*executor, key.slots);
  in_flight_.push_back({now, tracked.run.key, stamp});
  dispatcher_.Add(credits, *executor, std::move(*task), cluster_now);
  return true;
}

// Begins only now that an executor has room for a part: if they are all away, the fire grows old as
// a whole, like a run without parts.
bool LaneDispatch::BeginTop(std::pair<const ReadyLanes::Key, ReadyLanes::Lane>& best,
                            TrackedRun& tracked, ExecutorCredits::Index executor, SteadyTime now) {
  auto& [key, lane] = best;
  // The sweep offers it again while it waits in line. A second begin would find it RUNNING, and say
  // that it has not begun.
  if (places_.begun().Waits(tracked.run.key)) {
    lane.heap.Pop();
    places_.Settle(tracked, now);
    return false;
  }
  if (!MayBegin(best, executor, now) || !ports_.begin_workflow(tracked.run, *tracked.definition)) {
    places_.lanes().Block(best);
    return false;
  }
  lane.heap.Pop();
  places_.begun().Begin(tracked.run, executor, key.slots, now);
  places_.Settle(tracked, now);
  return true;
}

// Executors that are heard may still claim nothing, because the bus or their way to it is broken.
// Runs that wait for them find out when that ends; if there are none, a fire begins for it.
bool LaneDispatch::MayBegin(std::pair<const ReadyLanes::Key, ReadyLanes::Lane>& best,
                            ExecutorCredits::Index picked, SteadyTime now) {
  auto& [key, lane] = best;
  if (!ports_.bus_answers() || !places_.begun().MayBegin()) return false;
  const ExecutorCredits& credits = places_.credits();
  const bool claims =
      !credits.Silent(picked) || lane.candidates.all().Any([&, slots = key.slots](size_t at) {
        return credits.Serves(at, slots) && credits.Available(at, slots) > 0;
      });
  if (claims) {
    lane.unclaimed_since.reset();
    return true;
  }
  if (!lane.unclaimed_since) lane.unclaimed_since = now;
  if (now - *lane.unclaimed_since < kBeginsAnyway) return false;
  lane.unclaimed_since = now;
  return true;
}

// While silent executors have no room, because runs that wait for them are tried, fires go on
// waiting for the claims. If the executors are away, or another one works, that wait is over.
bool LaneDispatch::AwaitsClaims(const ReadyLanes::Key& key, const ReadyLanes::Lane& lane) const {
  if (IsServed(key, lane)) return false;
  const ExecutorCredits& credits = places_.credits();
  const auto offers = [&](size_t at) { return credits.Offers(at, key.slots); };
  if (key.pinned.empty()) return lane.candidates.all().Any(offers);
  const ExecutorCredits::Index at = credits.Find(key.pinned);
  return at != ExecutorCredits::kNone && offers(at);
}

void LaneDispatch::TakeBack(const std::vector<RunKey>& refused, SteadyTime now) {
  if (refused.empty()) return;
  dispatch_pause_ = now + kBusRetry;
  for (const RunKey& key : refused) {
    TrackedRun* tracked = places_.runs().Find(key);
    if (tracked == nullptr || tracked->place != Place::kInFlight) continue;
    places_.Release(*tracked);
    places_.PutBack(*tracked, now);
  }
}

SteadyTime LaneDispatch::NextStep(SteadyTime now) const {
  SteadyTime next = SteadyTime::max();
  if (more_ready_) next = std::max({now, next_allowed(), dispatch_pause_});
  if (places_.runs().count(Place::kReady) > 0) {
    next = std::min(next, std::max(next_look_, now + Duration(1)));
    if (dispatch_pause_ > now) next = std::min(next, dispatch_pause_);
  }
  // Dispatching continues as soon as the held skips are flushed.
  if (skips_full_ && !skips_.NextFlush(now)) next = std::min(next, now);
  if (!in_flight_.empty()) {
    next = std::min(next, in_flight_.front().at + dispatch_timeout_.load());
  }
  return next;
}

}  // namespace carillon::scheduler
