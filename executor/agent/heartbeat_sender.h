// Reports to the members which attempts this executor holds and how many more it accepts.
//
// Place    Step 8 of docs/life-of-a-run.md; under ExecutorCore.
// Threads  The core loop.
// Errors   Each heartbeat is complete, so the next heartbeat replaces a lost one.
// Always   If the warden has not responded for (lease - 3 s), the attempts that it runs are left
//          out, so that their leases are not renewed.
#pragma once

#include <array>
#include <optional>

#include "executor/agent/claim_gate.h"
#include "executor/agent/executor_daemon.h"
#include "executor/agent/open_claims.h"
#include "executor/agent/warden_watch.h"
#include "executor/link/member_sessions.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class HeartbeatSender {
 public:
  struct Rooms {
    RunTable& runs;
    MemberSessions& sessions;
    const OpenClaims& claims;
    const ClaimGate& gate;
    const WardenWatch& warden;
  };
  HeartbeatSender(const ExecutorDaemon::Ports& ports, const ExecutorOptions& options, Rooms rooms)
      : ports_(ports),
        rooms_(rooms),
        features_(FeaturesOf(HostPrograms{.interpreters = options.interpreters,
                                          .engine_answers = !options.container_engine.empty()})),
        runs_as_others_(!options.run_as_allowed.empty()) {}

  // Sends the heartbeats that are due, or one to every member after a change.
  void Beat(SteadyTime now);
  // Notifies every member that this process stops on purpose.
  void Leave(SteadyTime now);

 private:
  // The state that the last heartbeat after a change reported.
  struct Announced {
    std::array<bool, kLanes> accepting{};
    std::shared_ptr<const HandlerOffers> offers = {};
    bool trouble = false;

    bool operator==(const Announced&) const = default;
  };

  void Sample(SteadyTime now);
  Announced Current() const;
  Features CurrentFeatures() const;
  bool RoomFreed(const Announced& current) const;
  int RoomFor(const MemberId& member, Lane lane) const;
  bool ReportsRunning(const RunEntry& entry, SteadyTime now) const;
  void Fill(const MemberId& member, SteadyTime now, Heartbeat* heartbeat) const;

  const ExecutorDaemon::Ports& ports_;
  const Rooms rooms_;
  const Features features_;  // of this host at the start, without isolation
  const bool runs_as_others_;
  Announced told_;
  SteadyTime next_change_beat_{};
  SteadyTime next_sample_{};
  ExecutorLoad load_;  // the average
  bool sampled_ = false;
  std::optional<int64_t> tasks_behind_;
};

}  // namespace carillon::executor
