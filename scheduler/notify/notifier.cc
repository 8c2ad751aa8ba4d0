#include "scheduler/notify/notifier.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/domain/workflow/node_key.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kClockRetry = 100ms;

std::vector<SegmentId> SegmentsOf(const std::vector<NoticeDecision>& decisions) {
  std::vector<SegmentId> segments;
  for (const NoticeDecision& decision : decisions) segments.push_back(decision.notice.segment);
  return segments;
}

std::string_view LabelOf(DeliveryState state) {
  switch (state) {
    case DeliveryState::kDelivered: return "delivered";
    case DeliveryState::kGivenUp: return "given_up";
    case DeliveryState::kPending: break;
  }
  return "failed";
}

// `outcome` could not be recorded. True if it is the outcome of the delivery's next attempt. False
// if the delivery was requested again meanwhile, or another attempt was recorded.
bool IsOf(const DeliveryOutcome& outcome, const Delivery& delivery) {
  return outcome.asked == delivery.asked && outcome.attempts == delivery.attempts + 1;
}

}  // namespace

bool IsToldWithItsWorkflow(const OpenNotice& one) {
  return one.notice.kind == NoticeKind::kFailed && NodePlaceOf(one.notice.key) && !one.rules.on &&
         one.rules.mail_to.empty();
}

SteadyTime Notifier::Step(SteadyTime now) {
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return now + kClockRetry;
  const auto view = ports_.segments.View();
  if (now >= next_recovery_) {
    next_recovery_ = now + kRecoveryEvery;
    LookForRecoveries(*view, *cluster_now);
  }
  if (now >= next_backlog_) {
    next_backlog_ = now + kBacklogEvery;
    ShowBacklog(*view, *cluster_now);
  }
  if (now >= next_look_) {
    next_look_ = now + kLookEvery;
    Decide(*view, *cluster_now);
    if (due_.empty()) TakeDue(*view, *cluster_now);
  }
  if (!due_.empty()) SendOne(*view, *cluster_now);
  if (!due_.empty()) return ports_.clock.Steady();
  return std::min({next_look_, next_recovery_, next_backlog_});
}

void Notifier::Failed(const Error& error) {
  ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(error.code)).Add();
  log::Debug("notify", "{}", error.message);
}

void Notifier::Decide(const OwnedView& view, WallTime cluster_now) {
  const auto open = ports_.store.ScanNotices(view.ActiveSegments(), kDecidedAtOnce);
  if (!open.ok()) return Failed(open.error());
  if (open->empty()) return;
  const NotifyOptions& options = ports_.sender.options();
  // The decision about a notice (send it or hold it back) counts when a later notice of the same
  // job and kind in this batch is decided.
  std::map<std::pair<JobNo, NoticeKind>, NoticeMemory> memories;
  std::vector<NoticeDecision> decisions;
  for (OpenNotice one : *open) {
    const Notice& notice = one.notice;
    NoticeDecision decision{.notice = notice, .shares_memory = SharesMemory(notice, one.rules)};
    const auto [place, fresh] =
        memories.emplace(std::pair(MemoryOf(decision), notice.kind), one.memory);
    NoticeMemory& memory = place->second;
    one.memory = memory;
    const bool wanted = options.enabled() && !IsToldWithItsWorkflow(one) &&
                        IsWanted(notice.kind, one.rules, options.defaults);
    if (wanted) {
      decision.verdict =
          DecideNotice(notice.kind, memory, options.defaults.repeat_after, cluster_now);
    }
    if (decision.verdict == NoticeVerdict::kTell) {
      auto run = ports_.store.FindRun(notice);
      if (!run.ok()) return Failed(run.error());
      one.run = std::move(run).value();
      decision.deliveries = ports_.sender.Compose(one, console_url_, cluster_now);
      if (decision.deliveries.empty()) {
        decision.verdict = NoticeVerdict::kDrop;
        WarnOfNobody(one.job_id);
      } else {
        memory = {.told = cluster_now};
      }
    } else if (decision.verdict == NoticeVerdict::kHoldBack) {
      ++memory.held_back;
    }
    ports_.metrics
        .counter("carillon_notices_total", decision.verdict == NoticeVerdict::kTell ? "told"
                                           : decision.verdict == NoticeVerdict::kHoldBack
                                               ? "held_back"
                                               : "unwanted")
        .Add();
    decisions.push_back(std::move(decision));
  }
  const Fence fence = view.FenceFor(SegmentsOf(decisions));
  const Status decided = ports_.fences.RunAside(
      "notices", fence, [&] { return ports_.store.DecideNotices(decisions, fence, cluster_now); });
  if (!decided.ok()) return;
  if (open->size() == kDecidedAtOnce) next_look_ = {};
}

void Notifier::WarnOfNobody(const JobId& job_id) {
  if (std::exchange(warned_of_nobody_, true)) return;
  log::Warn("notify",
            "notifications of job {} have no recipient: notify.mail_server is set, but "
            "notify.mail_to and the job's mail_to are empty; further such jobs are not logged",
            job_id.value());
}

void Notifier::LookForRecoveries(const OwnedView& view, WallTime cluster_now) {
  const auto page =
      ports_.store.ScanRecoveries(view.ActiveSegments(), recovery_cursor_, cluster_now, kBatch);
  if (!page.ok()) return Failed(page.error());
  recovery_cursor_ = page->next;
  if (page->recoveries.empty()) return;
  std::vector<Notice> notices;
  std::vector<SegmentId> segments;
  for (const Recovery& found : page->recoveries) {
    notices.push_back({.kind = NoticeKind::kRecovered,
                       .segment = found.segment,
                       .job_no = found.job_no,
                       .key = found.key,
                       .attempt = found.attempt,
                       .state = RunState::kCompleted,
                       .created = cluster_now});
    segments.push_back(found.segment);
  }
  const Fence fence = view.FenceFor(segments);
  // The result is ignored. If this write fails, the next scan finds the same recoveries again.
  static_cast<void>(ports_.fences.RunAside(
      "notices", fence, [&] { return ports_.store.AddNotices(notices, fence); }));
}

void Notifier::ShowBacklog(const OwnedView& view, WallTime cluster_now) {
  const auto backlog = ports_.store.ReadBacklog(view.ActiveSegments());
  if (!backlog.ok()) return Failed(backlog.error());
  ports_.metrics.gauge("carillon_deliveries_pending").Set(static_cast<double>(backlog->pending));
  const Duration age =
      backlog->oldest >= cluster_now ? Duration::zero() : cluster_now - backlog->oldest;
  ports_.metrics.gauge("carillon_oldest_delivery_seconds")
      .Set(std::chrono::duration<double>(age).count());
}

bool Notifier::Rests(DeliveryChannel channel) const {
  const auto rest = rests_until_.find(channel);
  return rest != rests_until_.end() && ports_.clock.Steady() < rest->second;
}

void Notifier::TakeDue(const OwnedView& view, WallTime cluster_now) {
  std::vector<DeliveryChannel> awake;
  for (const DeliveryChannel channel : {DeliveryChannel::kWebhook, DeliveryChannel::kMail}) {
    if (!Rests(channel)) awake.push_back(channel);
  }
  auto due = ports_.store.ScanDeliveries(view.ActiveSegments(), awake, cluster_now, kBatch);
  if (!due.ok()) return Failed(due.error());
  for (Delivery& delivery : *due) {
    const Epoch epoch = view.Find(delivery.segment)->epoch;
    due_.push_back({std::move(delivery), epoch});
  }
}

void Notifier::SendOne(const OwnedView& view, WallTime cluster_now) {
  const Due due = std::move(due_.front());
  due_.pop_front();
  const Delivery& delivery = due.delivery;
  if (!view.Holds(delivery.segment, due.epoch)) return;
  const auto sent_before = unrecorded_.find(delivery.id);
  if (sent_before != unrecorded_.end()) {
    const DeliveryOutcome outcome = sent_before->second;
    unrecorded_.erase(sent_before);
    if (IsOf(outcome, delivery)) return Record(outcome, view, cluster_now);
  }
  if (Rests(delivery.channel)) return;
  const SendOutcome sent = ports_.sender.Send(delivery);
  if (sent.verdict == SendVerdict::kNoAnswer) {
    rests_until_[delivery.channel] = ports_.clock.Steady() + kChannelRest;
  }
  Record(OutcomeOf(delivery, sent, cluster_now), view, cluster_now);
}

void Notifier::Record(const DeliveryOutcome& outcome, const OwnedView& view, WallTime cluster_now) {
  const Fence fence = view.FenceFor({outcome.segment});
  const Status recorded = ports_.fences.RunAside(
      "delivery", fence, [&] { return ports_.store.RecordDelivery(outcome, fence, cluster_now); });
  if (recorded.ok()) return;
  if (unrecorded_.size() < kUnrecordedMax) unrecorded_.emplace(outcome.id, outcome);
}

DeliveryOutcome Notifier::OutcomeOf(const Delivery& delivery, const SendOutcome& sent,
                                    WallTime cluster_now) {
  DeliveryOutcome outcome{.id = delivery.id,
                          .segment = delivery.segment,
                          .asked = delivery.asked,
                          .attempts = delivery.attempts + 1,
                          .status = sent.status,
                          .error = sent.error};
  const auto again = NextDelivery(outcome.attempts, delivery.asked, cluster_now);
  if (sent.verdict == SendVerdict::kDelivered) {
    outcome.state = DeliveryState::kDelivered;
  } else if (sent.verdict == SendVerdict::kRefused || !again) {
    outcome.state = DeliveryState::kGivenUp;
  } else {
    outcome.due = *again;
  }
  ports_.metrics
      .counter("carillon_deliveries_total", LabelValues({std::string(Name(delivery.channel)),
                                                         std::string(LabelOf(outcome.state))}))
      .Add();
  if (outcome.state != DeliveryState::kDelivered) {
    log::Warn("notify", "{} of notice {} {}: {}", Name(delivery.channel), delivery.notice_id,
              outcome.state == DeliveryState::kGivenUp ? "given up" : "failed", sent.error);
  }
  return outcome;
}

}  // namespace carillon::scheduler
