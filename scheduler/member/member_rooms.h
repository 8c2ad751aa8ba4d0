// The rooms of a member, their shared state and the queues between them. Private to member/.
//
// Owns     Everything below. The order of the declarations matters: each part may use the parts
//          above it.
#pragma once

#include <map>
#include <memory>

#include "scheduler/assign/assignment_follower.h"
#include "scheduler/assign/segment_owner.h"
#include "scheduler/assign/session_proof.h"
#include "scheduler/checkpoints/checkpoint_writer.h"
#include "scheduler/claims/claim_applier.h"
#include "scheduler/ends/admission_loop.h"
#include "scheduler/ends/backfill_loop.h"
#include "scheduler/ends/begin_loop.h"
#include "scheduler/ends/completion_loop.h"
#include "scheduler/ends/pause_watch.h"
#include "scheduler/ends/upstream_waits.h"
#include "scheduler/ends/workflow_loop.h"
#include "scheduler/events/event_reader.h"
#include "scheduler/fire/firing_loop.h"
#include "scheduler/guard/guard_loop.h"
#include "scheduler/leader/leader.h"
#include "scheduler/letters/letter_publisher.h"
#include "scheduler/liveness/executor_registry.h"
#include "scheduler/logs/log_keeper.h"
#include "scheduler/maintain/maintenance.h"
#include "scheduler/member/member.h"
#include "scheduler/member/queue_gauges.h"
#include "scheduler/member/sequence_stepper.h"
#include "scheduler/notify/late_watch.h"
#include "scheduler/notify/notifier.h"
#include "scheduler/notify/shed_watch.h"
#include "scheduler/plan/parameter_loader.h"
#include "scheduler/plan/segment_planner.h"
#include "scheduler/plan/skip_writer.h"
#include "scheduler/plan/sweep.h"
#include "scheduler/recover/cancel_pusher.h"
#include "scheduler/recover/given_up.h"
#include "scheduler/recover/lease_reaper.h"
#include "scheduler/recover/presumed_runs.h"
#include "scheduler/recover/takeover.h"
#include "scheduler/results/result_applier.h"
#include "scheduler/settings/settings_follower.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

struct Member::Rooms {
  Rooms(const MemberPorts& p, const MemberOptions& o);
  ~Rooms();

  void ConnectWakes();
  void ConnectSignals();
  WakeSlot& WakeOf(const std::string& loop) { return *wakes.at(loop); }
  std::function<void()> Waker(const std::string& loop);
  std::function<void()> Wakers(std::initializer_list<const char*> loops);
  // Suspends all segments: nothing more is planned, fired or claimed. Leases are still renewed,
  // because the session still proves ownership.
  void SuspendSegments();
  // Suspends all segments, and drops all data in memory that was read from the store. Called when
  // the store has another history.
  void ForgetStore();
  void WarmDefinitions(const std::vector<PendingRun>& runs);
  void MakeNotify();
  void MakeEventReader();
  ShedStorm LastStorm();
  // Returns how late these runs may start without a notification. Zero means any lateness: no
  // notification is sent.
  std::vector<Duration> LateLimits(const std::vector<const RunRow*>& runs);
  Duration LateLimit(const ClaimRequest& request);
  Duration LateLimitOf(const Definition* definition);  // null: not known

  // Each of these builds a room with its ports and options (member_rooms_make.cc).
  SegmentOwner MakeOwner();
  LeaderLoop MakeLeader();
  SettingsFollower MakeSettings();
  GuardLoop MakeGuardLoop();
  Takeover MakeTakeover();
  LossPorts ForLosses();
  LeaseReaper MakeReaper();
  OwnerPorts ForOwner();
  AdmissionLoop MakeAdmission();
  CompletionLoop MakeCompletions();
  WorkflowLoop MakeWorkflows();
  BeginLoop MakeBegins();
  BackfillLoop MakeBackfill();
  PauseWatch MakePauses();
  UpstreamWaits MakeUpstreamWaits();
  LetterPublisher MakeLetters();
  CancelPusher MakeCancels();
  ExecutorRegistry MakeRegistry();
  FiringLoop MakeFiring();
  SegmentPlanner MakePlanner();
  Sweep MakeSweep();
  SkipWriter MakeSkipWriter();
  LinkService MakeLink();
  ClaimApplier MakeClaimApplier();
  ResultApplier MakeResultApplier();
  LogKeeper MakeLogKeeper();

  const MemberPorts ports;
  const MemberOptions options;
  Rng seeds;
  // Shared, because callbacks registered with the ports may outlive the member.
  std::map<std::string, std::shared_ptr<WakeSlot>> wakes;

  // Shared state, thread-safe by itself.
  ClusterClock cluster;
  SegmentTable segments;
  AssignmentFollower assignment;
  FencedWriter fences;
  LeaseTable leases;
  ExecutorTable executors;
  AppliedMemory applied;
  CalendarCache calendars;
  DefinitionCache definitions;
  MemberSignals signals;

  // Queues between loops.
  RunFeed feed;
  RunEventQueue events;
  LoadQueue loads;
  SkipQueue skips;
  ClaimQueue claims;
  RegisterQueue registers;
  SaveQueue progress;
  SaveQueue checkpoints;
  CheckpointAnswerQueue checkpoint_answers;

  // Rooms, grouped by loop.
  SegmentOwner owner;
  SessionProof session_proof;
  LeaderLoop leader;
  SettingsFollower settings;
  UpgradeWatch upgrade;
  GuardLoop guard_loop;
  Takeover takeover;
  PresumedRuns presumed;
  LeaseReaper reaper;
  GivenUp given_up;
  CancelPusher cancels;
  AdmissionLoop admission;
  CompletionLoop completions;
  WorkflowLoop workflows;
  BeginLoop begins;
  BackfillLoop backfill;
  PauseWatch pauses;
  UpstreamWaits upstream_waits;
  LetterPublisher letters;
  ExecutorRegistry registry;
  FiringLoop firing;
  SegmentPlanner planner;
  Sweep sweep;
  ParameterLoader parameters;
  SkipWriter skip_writer;
  LinkService link;
  ClaimApplier claim_applier;
  ResultApplier result_applier;
  LogKeeper log_keeper;
  CheckpointWriter save_keeper;
  CheckpointAnswers checkpoint_reader;
  OverdueWatch overdue;
  Maintenance maintenance;
  QueueGauges gauges;

  SequenceStepper leader_loop;
  SequenceStepper link_loop;
  SequenceStepper recover_loop;
  SequenceStepper admission_loop;
  SequenceStepper backfill_loop;
  SequenceStepper plan_loop;
  SequenceStepper saves_loop;
  SequenceStepper maintain_loop;
  // Null if MemberPorts has no sender.
  std::unique_ptr<Notifier> notifier;
  std::unique_ptr<LateWatch> late_watch;
  std::unique_ptr<ShedWatch> shed_watch;
  std::unique_ptr<SequenceStepper> notify_loop;
  std::unique_ptr<EventReader> event_reader;  // null without topics of events
};

}  // namespace carillon::scheduler
