// One member of the scheduler: all rooms, connected to each other and to the ports. In a daemon
// each loop runs on its own thread. The simulator steps the same loops one after the other.
//
// Place    Connects all steps of docs/life-of-a-run.md. In the daemon, each stepper is run by a
//          LoopRunner of its own.
// Threads  Each stepper is called by one thread at a time, and different steppers are called
//          concurrently. The functions of MemberView are thread-safe.
// Owns     All rooms. The ports must outlive the member; stop every loop before destroying it.
// Always   The destructor writes nothing, so other members see a crash. For a clean stop call
//          Leave() first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live_settings.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/events/event_topics.h"
#include "common/ports/executor_link.h"
#include "common/ports/message_bus.h"
#include "common/ports/store/schema_store.h"
#include "common/ports/store/stores.h"
#include "common/wire/messages/signature.h"
#include "scheduler/guard/store_guard.h"
#include "scheduler/leader/member_urls.h"
#include "scheduler/member/member_options.h"
#include "scheduler/member/member_status.h"
#include "scheduler/member/wake_slot.h"
#include "scheduler/notify/notice_sender.h"
#include "scheduler/secrets/secret_resolver.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

// `guard` must be in front of every store except `identity`. `identity` must also read
// a held store.
struct MemberPorts {
  const Clock& clock;
  Stores stores;            // all behind the guard
  IdentityStore& identity;  // the store that answers, trusted or not, so not behind the guard
  SchemaStore& schema;      // behind the guard
  StoreGuard& guard;
  BusProducer& producer;  // tasks
  BusConsumer& results;   // kResultsTopic, with a position of this member's own
  BusConsumer& logs;      // kLogsTopic, with a position of this member's own
  ExecutorHub& hub;
  Coordinator& coordinator;
  const Signer& signer;
  Metrics& metrics;
  LiveSettings& settings;  // the member keeps them up to date; the daemon passes changes to Tune
  const SecretResolver* secrets = nullptr;  // null: runs that use secrets end as FAILED
  const NoticeSender* sender = nullptr;     // null: no notifications are sent
  BusProducer* letters = nullptr;           // dead letters; null: `producer` sends them
  EventTopics* event_topics = nullptr;      // MemberOptions::event_topics; null: none is read
};

// A loop of the member.
struct NamedStepper {
  std::string name;  // "plan", "fire", "claims", "results", "link", "owner", "proof", …
  Stepper* stepper;
  WakeSlot* wake;  // before the first Step, set it to the Wake of the runner
};

class Member final : public MemberView {
 public:
  Member(const MemberPorts& ports, const MemberOptions& options);
  ~Member() override;

  // All loops, in such an order that one Step of each makes progress. Valid as long as the member.
  std::vector<NamedStepper> steppers();

  // The URLs of this member's API and ops port. Call it before the first Step of any stepper.
  void SetUrls(MemberUrls urls);
  // Thread-safe; does not block. Passes changed settings to the rooms.
  void Tune(const MemberTuning& tuning);
  // Leaves the membership and releases all segments, so that other members take over at once. Stop
  // the loops first.
  void Leave();
  // Thread-safe. Valid as long as the member.
  UpgradeWatch& upgrade();

  MemberStatus GetStatus() const override;
  void Nudge(const ChangedWork& work) override;
  void NudgeExecutors() override;
  bool ready() const override;
  Result<WallTime> ClusterNow() const override;
  StoreStanding GetStoreStanding() const override;
  Status AcceptStore(const StoreIdentity& shown) override;

 private:
  struct Rooms;
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace carillon::scheduler
