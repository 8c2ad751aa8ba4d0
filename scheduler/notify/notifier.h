// Decides which notices to send and sends them, for the segments that this member owns.
//
// Place    Beside step 9 of docs/life-of-a-run.md. Runs on a separate loop, so that no fire waits
//          for it. See docs/notify.md.
// Threads  One loop calls Step; call SetConsoleUrl before the first Step.
// Errors   Store unavailable: retried. If a channel does not answer, it is not used for
//          kChannelRest, and its deliveries are not read during that time. So this channel delays
//          the other channel by at most one message.
// Always   Each Step sends at most one message. A message is sent before its outcome is
//          recorded, so it is sent at least once. Only one member sends a message at a time,
//          unless the segment changes its owner meanwhile. Receivers recognise a repetition by
//          the id of the message.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/notice_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/assign/segment_table.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/notify/notice_sender.h"

namespace carillon::scheduler {

// The failure of a workflow's node is told with that of the workflow, if that fails at all. Whoever
// gives the node's job events or addresses of its own wants to hear of it in any case.
bool IsToldWithItsWorkflow(const OpenNotice& one);

class Notifier final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 1s;
  static constexpr Duration kRecoveryEvery = 5s;
  static constexpr Duration kBacklogEvery = 15s;
  static constexpr Duration kChannelRest = 5s;
  static constexpr size_t kBatch = 50;
  static constexpr size_t kDecidedAtOnce = 200;

  struct Ports {
    const Clock& clock;
    NoticeStore& store;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    const NoticeSender& sender;
    Metrics& metrics;
  };
  explicit Notifier(const Ports& ports) : ports_(ports) {}

  SteadyTime Step(SteadyTime now) override;
  void SetConsoleUrl(std::string url) { console_url_ = std::move(url); }

 private:
  void Decide(const OwnedView& view, WallTime cluster_now);
  void WarnOfNobody(const JobId& job_id);
  void LookForRecoveries(const OwnedView& view, WallTime cluster_now);
  void ShowBacklog(const OwnedView& view, WallTime cluster_now);
  void TakeDue(const OwnedView& view, WallTime cluster_now);
  bool Rests(DeliveryChannel channel) const;
  void SendOne(const OwnedView& view, WallTime cluster_now);
  void Record(const DeliveryOutcome& outcome, const OwnedView& view, WallTime cluster_now);
  DeliveryOutcome OutcomeOf(const Delivery& delivery, const SendOutcome& sent,
                            WallTime cluster_now);
  void Failed(const Error& error);

  // A delivery, and the epoch under which it was found to be due.
  struct Due {
    Delivery delivery;
    Epoch epoch;
  };
  static constexpr size_t kUnrecordedMax = 1000;

  const Ports ports_;
  std::string console_url_;
  std::deque<Due> due_;
  // Outcomes of sent messages that are not recorded yet. They are kept, so that an outage of the
  // store does not cause a second send.
  std::map<uint64_t, DeliveryOutcome> unrecorded_;
  std::map<DeliveryChannel, SteadyTime> rests_until_;
  std::optional<JobNo> recovery_cursor_;
  bool warned_of_nobody_ = false;
  SteadyTime next_look_{};
  SteadyTime next_recovery_{};
  SteadyTime next_backlog_{};
};

}  // namespace carillon::scheduler
