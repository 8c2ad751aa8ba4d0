#include "tests/sim/processes.h"

#include <fmt/format.h>

#include "common/ports/handler_runner.h"
#include "tests/sim/sim_http.h"

namespace carillon::sim {
namespace {

// Each host was booted at a different time, and its wall clock is slightly off.
HostClock NewHostClock(World& world) {
  const Duration booted = 1s * (1000 + world.rng.Below(1'000'000));
  const Duration error = Duration(world.rng.Below(40'000)) - 20ms;
  return HostClock(world.clock, booted, error);
}

// A member that starts skips results older than this. The value is much lower than in a real
// cluster, so that results are skipped often.
constexpr Duration kResultsOfInterest = 500ms;

// Three executors are quiet for as long as 10,000 are in a real cluster, and longer than a lease
// allows that is not renewed.
constexpr Duration kQuietEachOfFew = 5s;
constexpr Duration kShortLease = 12s;

class SteadyLoad final : public executor::LoadSource {
 public:
  ExecutorLoad Sample() override { return {.cpu = 0.25, .memory = 0.5}; }
};

using Effect = test::CallFate::Effect;

test::CallFate Unavailable() {
  return {Effect::kNone, Error{ErrorCode::kUnavailable, "the store is not reachable"}};
}
test::CallFate AnswerLost(Effect effect) {
  return {effect, Error{ErrorCode::kTimeout, "the answer was lost"}};
}
bool CanBeLost(const test::StoreCall& call) {
  return call.is_fenced_write || call.name == "Take" || call.name == "Accept" ||
         call.name == "Refuse";
}

// Much may happen between the reads of what runs wait for.
bool AsksForUpstream(const test::StoreCall& call) {
  return call.name == "ReadSources" || call.name == "ReadUpstreamRuns";
}

// The ports of a member: those of which it only reads little have no faults.
Stores WithFaults(const Stores& plain, test::FaultStores& faulty, StreakStore& streaks,
                  UpstreamStore& upstream, EventStore& events) {
  return {faulty.identity,   faulty.segments,
          faulty.firing,     faulty.queues,
          plain.groups,      plain.jobs,
          plain.runs,        plain.logs,
          plain.notices,     faulty.executors,
          plain.idempotency, faulty.settings,
          plain.audit,       faulty.housekeeping,
          plain.auth,        plain.secrets,
          plain.bulk,        faulty.completions,
          faulty.backfills,  faulty.calendars,
          faulty.workflows,  plain.checkpoints,
          streaks,           faulty.letters,
          upstream,          events};
}

// Topics outside, as one process reaches them. A consumer that it opens while there are faults
// keeps them for as long as it lives.
class SimTopics final : public EventTopics {
 public:
  SimTopics(World& world, test::NodePorts ports) : world_(world), ports_(std::move(ports)) {}

  Result<std::unique_ptr<BusConsumer>> Open(const std::string& topic,
                                            const BusBegin& begin) override {
    if (!ports_.alive || world_.network.IsCut(test::kBusNode, ports_.node)) {
      return Error{ErrorCode::kUnavailable, "open: the broker is not reachable"};
    }
    std::unique_ptr<BusConsumer> consumer = std::make_unique<test::FaultConsumer>(
        ports_, world_.bus.NewConsumer(topic, "carillon-events", {}, begin),
        world_.faults().consumer, world_.ForkRng());
    return consumer;
  }
  Result<bool> HasGrown(const std::string& /*topic*/) override { return false; }

 private:
  World& world_;
  const test::NodePorts ports_;
};

EventStore& EventsOfMembers(World& world) {
  EventTopicsCheck* const topics = world.event_topics();
  return topics != nullptr ? topics->store() : world.store_ports.events;
}

}  // namespace

// ---- scheduler ---------------------------------------------------------------------------------

struct SchedulerProcess::Ports {
  Ports(SchedulerProcess& self, World& world, const std::string& name)
      : stores(world.store_ports, self),
        streaks(world.streaks, self),
        upstream(world.upstream, self),
        events(EventsOfMembers(world), self),
        topics(world, {world.network, name, self.alive_}),
        producer({world.network, name, self.alive_}, world.bus.NewProducer(),
                 [&self](std::string_view topic) { self.Published(topic); }),
        results({world.network, name, self.alive_},
                world.bus.NewConsumer(kResultsTopic, "member-" + name, {},
                                      BusBegin{.at = world.clock.Wall() - kResultsOfInterest,
                                               .of = BusBegin::Of::kAnyGroup}),
                world.faults().consumer, world.ForkRng()),
        logs({world.network, name, self.alive_},
             world.bus.NewConsumer(kLogsTopic, "member-" + name), world.faults().consumer,
             world.ForkRng()),
        hub({world.network, name, self.alive_}, world.board.OpenHub(MemberId(name)),
            [&self](const ToExecutor& message) { self.Sending(message); }),
        coordinator(world.ensemble.NewClient()),
        guard(self.clock()),
        signer(world.SignerOf(self.number_)) {}

  test::FaultStores stores;
  test::FaultStreakStore streaks;
  test::FaultUpstreamStore upstream;
  test::FaultEventStore events;
  SimTopics topics;
  test::FaultProducer producer;
  test::FaultConsumer results;
  test::FaultConsumer logs;
  test::FaultHub hub;
  std::unique_ptr<Coordinator> coordinator;
  scheduler::StoreGuard guard;
  Signer signer;
  LiveSettings settings;
};

SchedulerProcess::SchedulerProcess(World& world, size_t number)
    : SimProcess(fmt::format("m{}", number + 1), clock_of_host_),
      world_(world),
      number_(number),
      clock_of_host_(NewHostClock(world)) {}

SchedulerProcess::~SchedulerProcess() { Destroy(); }

void SchedulerProcess::Create() {
  incarnation_ = Incarnation(fmt::format("{}-{}", name(), ++started_));
  stop_in_call_.reset();
  in_proof_.reset();
  metrics_ = std::make_unique<Metrics>();
  ports_ = std::make_unique<Ports>(*this, world_, name());
  paused_ = false;
  ports_->settings.OnChange([this](const ClusterSettings& settings) {
    const bool paused = PauseOf(settings).has_value();
    if (paused && !paused_) ++pauses_;
    paused_ = paused;
  });
  // A member reads the settings before its loops start, however long it has to wait for the store.
  ports_->settings.Adopt(*world_.store_ports.settings.ReadSettings());
  scheduler::MemberOptions options;
  options.self = {.id = MemberId(name()), .incarnation = incarnation_};
  options.seed = world_.rng.Next();
  if (world_.quiet()) {
    options.quiet_each = kQuietEachOfFew;
    options.lease = kShortLease;
  }
  if (world_.letters()) options.dead_letter_topic = LettersCheck::kTopic;
  if (world_.event_topics() != nullptr) options.event_topics = EventTopicsCheck::Topics();
  // Elsewhere without faults, so that those worlds stay as they are.
  StreakStore& streaks =
      world_.pauses_after_failures() ? static_cast<StreakStore&>(ports_->streaks) : world_.streaks;
  member_ = std::make_unique<scheduler::Member>(
      scheduler::MemberPorts{
          .clock = clock(),
          .stores = WithFaults(world_.store_ports, ports_->stores, streaks, ports_->upstream,
                               ports_->events),
          .identity = ports_->stores.identity,
          .schema = world_.stores.schema,
          .guard = ports_->guard,
          .producer = ports_->producer,
          .results = ports_->results,
          .logs = ports_->logs,
          .hub = ports_->hub,
          .coordinator = *ports_->coordinator,
          .signer = ports_->signer,
          .metrics = *metrics_,
          .settings = ports_->settings,
          .event_topics = world_.event_topics() != nullptr ? &ports_->topics : nullptr},
      options);
  for (const scheduler::NamedStepper& stepper : member_->steppers()) {
    // The executors here have no files, so there is nothing to save.
    if (stepper.name == "saves") continue;
    Turn& turn = AddTurn(stepper.name, *stepper.stepper);
    stepper.wake->Set([&turn] { turn.woken = true; });
  }
}

void SchedulerProcess::Destroy() {
  if (!member_) return;
  for (const scheduler::NamedStepper& stepper : member_->steppers()) stepper.wake->Clear();
  // The entries of this process at the coordinator stay until its session expires, which
  // the world arranges.
  world_.ensemble.Abandon(incarnation_);
  member_.reset();
  ports_.reset();
}

void SchedulerProcess::Nudge(const ChangedWork& work) {
  if (member_ && alive()) member_->Nudge(work);
}

LiveSettings* SchedulerProcess::settings() { return ports_ ? &ports_->settings : nullptr; }

Coordinator* SchedulerProcess::coordinator() {
  return ports_ ? ports_->coordinator.get() : nullptr;
}

void SchedulerProcess::Calm() {
  stop_in_call_.reset();
  in_proof_.reset();
  if (ports_) ports_->results.SetFaults({});
}

test::CallFate SchedulerProcess::Enter(const test::StoreCall& call) {
  if (call.name == "Plan" && MayStartNothing()) {
    world_.checker.Fail("pause: gate", name() + " plans");
  }
  if (call.name == "Claim") claims_nothing_ = MayStartNothing();
  world_.LoseTime(400us);
  const StoreFaults& faults = world_.faults().store;
  Rng& rng = world_.rng;
  if (rng.Chance(0.5)) Wait();
  if (world_.store_hangs()) return EnterHanging(call);
  if (rng.Chance(call.name == "MarkLost" ? faults.slow_losses
                 : AsksForUpstream(call) ? 10 * faults.slow
                                         : faults.slow)) {
    world_.Sleep(Duration(rng.Below(faults.slow_max.count())), World::Waits::kTurn);
  }
  if (!alive_ || world_.store_away() || world_.network.IsCut(name(), "store") ||
      rng.Chance(faults.unavailable)) {
    return Unavailable();
  }
  if (world_.store_broken() && call.name != "Now") {
    return {Effect::kNone, Error{ErrorCode::kBrokenStore, "a table is missing"}};
  }
  call_ = call.name;
  if (!CanBeLost(call) || !rng.Chance(faults.unknown)) return {};
  world_.Trace(fmt::format("{}: the outcome of {} is unknown", name(), call.name));
  switch (rng.Below(call.is_fenced_write ? 3 : 2)) {
    case 0: return AnswerLost(Effect::kNone);
    case 1: return AnswerLost(Effect::kNow);
    default: return AnswerLost(Effect::kLater);
  }
}

// Waits as long as the adapter would: it has one limit for the statement and one for
// a new connection.
test::CallFate SchedulerProcess::EnterHanging(const test::StoreCall& call) {
  const bool is_quick = call.name == "Now" || call.name == "ReadEpochs";
  world_.AwaitStore(is_quick ? 4s : 20s);
  if (!alive_) return Unavailable();
  call_ = call.name;
  if (!world_.store_hangs()) return {};
  if (!CanBeLost(call) || world_.rng.Chance(0.5)) return Unavailable();
  return AnswerLost(world_.rng.Chance(0.5) ? Effect::kNone : Effect::kNow);
}

bool SchedulerProcess::Leave() {
  world_.LoseTime(200us);
  Wait();
  const StoreFaults& faults = world_.faults().store;
  if (in_proof_ && call_ == "ReadEpochs") {
    const Hook hook = *std::exchange(in_proof_, std::nullopt);
    hook.act();
    world_.Sleep(hook.wait, World::Waits::kTurn);
  } else if (world_.rng.Chance(faults.slow)) {
    world_.Sleep(Duration(world_.rng.Below(faults.slow_max.count())), World::Waits::kTurn);
  }
  return alive_;
}

void SchedulerProcess::Wait() {
  if (!stop_in_call_) return;
  const Duration wait = *std::exchange(stop_in_call_, std::nullopt);
  world_.Sleep(wait, World::Waits::kProcess);
}

void SchedulerProcess::Later(std::function<void()> write) {
  const Duration wait = 1ms * world_.rng.Below(4000);
  world_.timers.At(world_.clock.Steady() + wait, [this, write = std::move(write)] {
    late_write_ = true;
    write();
    late_write_ = false;
  });
}

bool SchedulerProcess::MayStartNothing() const {
  const Turn* const turn = world_.turn();
  return turn != nullptr && turn->pause != 0 && turn->pause == pause();
}

void SchedulerProcess::Published(std::string_view topic) {
  if (topic != kTasksTopic || !MayStartNothing()) return;
  world_.checker.Fail("pause: gate", name() + " publishes tasks");
}

void SchedulerProcess::Wrote(std::string_view call, const Fence& fence) {
  world_.checker.Wrote(name(), call, fence);
}

void SchedulerProcess::LosingBegins(const std::vector<LostReport>& reports) {
  world_.checker.LosingBegins(name(), reports);
}

void SchedulerProcess::LosingEnded(const std::vector<LostReport>& reports, bool answered) {
  world_.checker.LosingEnded(name(), reports, answered);
}

void SchedulerProcess::Taken(const Fence& fence) { world_.checker.Taken(name(), fence); }

void SchedulerProcess::Sending(const ToExecutor& message) {
  if (const auto* beat = std::get_if<HeartbeatReply>(&message)) {
    for (const HeldAttempt& held : beat->renewed) {
      world_.checker.LeaseRenewed(name(), held.segment, held.key, held.token);
    }
  }
}

void SchedulerProcess::Answered(const std::vector<ClaimRequest>& requests,
                                const std::vector<ClaimReply>& replies) {
  for (size_t i = 0; i < requests.size(); ++i) {
    world_.Trace(fmt::format("{}: claim of {} attempt {} by {}: {}", name(),
                             EncodeRunId(requests[i].key), requests[i].attempt,
                             requests[i].incarnation.value(), Name(replies[i].reason)));
    const bool starts = replies[i].verdict == ClaimVerdict::kAccepted ||
                        replies[i].verdict == ClaimVerdict::kSkipped;
    if (starts && claims_nothing_ && !late_write_) {
      world_.checker.Fail("pause: gate", name() + " decides about " + EncodeRunId(requests[i].key));
    }
    if (replies[i].verdict == ClaimVerdict::kAccepted) world_.Accepted(requests[i].executor);
  }
}

// ---- executor ----------------------------------------------------------------------------------

struct ExecutorProcess::Ports {
  Ports(ExecutorProcess& self, World& world, const Incarnation& incarnation)
      : tasks({world.network, self.name(), self.alive_},
              world.bus.NewConsumer(kTasksTopic, "executor-" + self.name()),
              world.faults().consumer, world.ForkRng()),
        results({world.network, self.name(), self.alive_}, world.bus.NewProducer()),
        link({world.network, self.name(), self.alive_},
             world.board.OpenLink(self.id_, incarnation)),
        warden(self.warden_.Connect()),
        http({.host = self.id_,
              .clock = self.clock_of_host_,
              .observer = world.checker,
              .wake = [&self] { self.Wake("exec.http"); }}),
        tokens(world.ForkRng()) {}

  test::FaultConsumer tasks;
  test::FaultProducer results;
  test::FaultLink link;
  std::unique_ptr<Warden> warden;
  test::NoUsers users;
  SimHttp http;
  NoHandlers handlers;
  test::SeededTokens tokens;
  SteadyLoad load;
  LiveSettings settings;
};

ExecutorProcess::ExecutorProcess(World& world, size_t number, std::optional<ExecutorId> id)
    : SimProcess(fmt::format("e{}", number + 1), clock_of_host_),
      world_(world),
      id_(id.value_or(ExecutorId(name()))),
      clock_of_host_(NewHostClock(world)),
      warden_({.host = id_, .clock = clock_of_host_, .observer = world.checker}),
      slots_((world.faults().about_leases ? 16 : 4) + static_cast<int>(world.rng.Below(7))) {}

ExecutorProcess::~ExecutorProcess() { Destroy(); }

void ExecutorProcess::Create() {
  const Incarnation incarnation(fmt::format("{}-{}", name(), ++started_));
  metrics_ = std::make_unique<Metrics>();
  ports_ = std::make_unique<Ports>(*this, world_, incarnation);
  executor::ExecutorOptions options;
  options.executor_id = id_;
  options.incarnation = incarnation;
  options.host = name();
  options.tuning.slots = slots_;
  options.light_slots = 64;
  options.interpreters[Interpreter::kSh] = "/bin/sh";
  // The first executor has it, so that no script waits for ever.
  const bool has_python = id_.value().back() % 2 != 0;
  if (has_python) options.interpreters[Interpreter::kPython3] = "/bin/python3";
  daemon_ = std::make_unique<executor::ExecutorDaemon>(
      executor::ExecutorDaemon::Ports{clock(), ports_->tokens, ports_->tasks, ports_->results,
                                      ports_->link, *ports_->warden, ports_->users, ports_->http,
                                      ports_->handlers, warden_.spool(), ports_->load, *metrics_,
                                      [this] { return world_.PublicKeys(); }, ports_->settings},
      options);
  for (const NamedStepper& stepper : daemon_->steppers()) AddTurn(stepper.name, *stepper.stepper);
  AddTurn("exec.http", ports_->http);
  daemon_->OnWake([this](Stepper* stepper) {
    for (const auto& turn : turns()) {
      if (turn->stepper == stepper) turn->woken = true;
    }
  });
}

void ExecutorProcess::Destroy() {
  daemon_.reset();
  ports_.reset();
}

bool ExecutorProcess::IsAlive(const RunKey& key, int except) const {
  if (warden_.IsAlive(key, except)) return true;
  return alive() && ports_ && ports_->http.IsAlive(key, except);
}

void ExecutorProcess::Accepted() {
  if (!at_acceptance_) return;
  const Hook hook = *std::exchange(at_acceptance_, std::nullopt);
  Stop(world_.clock.Steady() + hook.wait);
  hook.act();
}

void ExecutorProcess::Calm() {
  at_acceptance_.reset();
  if (ports_) ports_->tasks.SetFaults({});
  warden_.SetDiskFull(false);
}

}  // namespace carillon::sim
