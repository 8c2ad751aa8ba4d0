// Port of notices, as transactions of the firing path leave them, and of their deliveries.
//
// Threads  Thread-safe; blocking.
// Errors   As firing_store.h for what carries a fence, else as job_store.h.
// Always   A notice of a failure, a missed fire or a late start is written by the transaction that
//          makes it true (FiringStore), once for each run, attempt and kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/notice.h"
#include "common/domain/run.h"
#include "common/ports/fence.h"

namespace carillon {

struct Notice {
  uint64_t id = 0;  // given by the store
  NoticeKind kind = NoticeKind::kFailed;
  SegmentId segment;
  JobNo job_no;
  RunKey key;  // kMissed: the schedule and its first missed fire
  int attempt = 1;
  RunState state = RunState::kFailed;
  std::string reason = {};
  int64_t fires = 1;            // kMissed: how many
  WallTime until = WallTime{};  // kMissed: the last of them
  WallTime created = WallTime{};
};

// How often the run was tried: a skip ends a try that never began.
inline int TriesOf(const Notice& notice) {
  return notice.state == RunState::kSkipped ? notice.attempt - 1 : notice.attempt;
}

// A notice nobody has decided about, with what the decision looks at.
struct OpenNotice {
  Notice notice;
  JobId job_id;
  std::string job_name;
  NotifyRules rules;                  // of the job's current version; defaults if it cannot be read
  NoticeMemory memory;                // of its job and kind
  std::optional<RunDetail> run = {};  // FindRun fills it in where it is told
};

struct NewDelivery {
  DeliveryChannel channel = DeliveryChannel::kWebhook;
  std::vector<std::string> recipients = {};  // kMail
  std::string message = {};                  // as it is sent, each time
};

struct NoticeDecision {
  Notice notice;
  NoticeVerdict verdict = NoticeVerdict::kDrop;
  std::vector<NewDelivery> deliveries = {};  // kTell
};

struct Delivery {
  uint64_t id = 0;
  uint64_t notice_id = 0;
  SegmentId segment;
  DeliveryChannel channel = DeliveryChannel::kWebhook;
  NoticeKind kind = NoticeKind::kFailed;
  JobId job_id;
  RunKey key;
  DeliveryState state = DeliveryState::kPending;
  int attempts = 0;
  WallTime created;
  WallTime asked;               // by the notice, or by who wanted it sent again
  WallTime due;                 // kPending: not before
  WallTime ended = WallTime{};  // zero: kPending
  int status = 0;               // of the last answer: HTTP's or SMTP's; 0 = none
  std::string error = {};       // of the last try; empty = none
  std::vector<std::string> recipients = {};
  std::string message = {};  // only of ScanDeliveries and GetDelivery
};

struct DeliveryOutcome {
  uint64_t id = 0;
  SegmentId segment;
  WallTime asked;  // the delivery's, as it was sent
  DeliveryState state = DeliveryState::kPending;
  int attempts = 0;
  WallTime due = WallTime{};
  int status = 0;
  std::string error = {};
};

struct DeliveryFilter {
  std::optional<DeliveryState> state = {};
  std::optional<NoticeKind> kind = {};
  std::optional<JobId> job_id = {};
  uint64_t before_id = UINT64_MAX;  // cursor, newest first
  size_t limit = 50;
};

// A job of which a failure was told, and the success since.
struct Recovery {
  SegmentId segment;
  JobNo job_no;
  RunKey key;
  int attempt = 1;
};
struct RecoveryPage {
  std::vector<Recovery> recoveries;
  std::optional<JobNo> next;  // where to go on; nullopt = those were all jobs
};

struct DeliveryBacklog {
  int64_t pending = 0;       // counted up to 10,000
  WallTime oldest = kNever;  // asked; kNever = none
};

class NoticeStore {
 public:
  virtual ~NoticeStore() = default;

  // Undecided ones of `segments`, the oldest first. No locks.
  virtual Result<std::vector<OpenNotice>> ScanNotices(const std::vector<SegmentId>& segments,
                                                      size_t limit) = 0;
  // With attempts; nullopt: kMissed, or it is gone.
  virtual Result<std::optional<RunDetail>> FindRun(const Notice& notice) = 0;
  // Keeps what was decided, makes the deliveries (due now) and moves the jobs' memories; all or
  // nothing. kConflict: a notice was decided meanwhile.
  virtual Status DecideNotices(const std::vector<NoticeDecision>& decisions, const Fence& fence,
                               WallTime now) = 0;
  // Late ones that a look has found, and recoveries, which end the watch for one. Those that are
  // there stay as they are.
  virtual Status AddNotices(const std::vector<Notice>& notices, const Fence& fence) = 0;
  // Jobs of `segments` after `after`, `limit` of them looked at, by their fires up to `now` (of
  // very many the newest). No locks.
  virtual Result<RecoveryPage> ScanRecoveries(const std::vector<SegmentId>& segments,
                                              std::optional<JobNo> after, WallTime now,
                                              size_t limit) = 0;

  // PENDING, due and through one of `channels`, the longest due first. No locks.
  virtual Result<std::vector<Delivery>> ScanDeliveries(const std::vector<SegmentId>& segments,
                                                       const std::vector<DeliveryChannel>& channels,
                                                       WallTime now, size_t limit) = 0;
  // One that is not PENDING any more, or was asked for anew meanwhile, is left alone.
  virtual Status RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence,
                                WallTime now) = 0;
  virtual Result<DeliveryBacklog> ReadBacklog(const std::vector<SegmentId>& segments) = 0;

  // For people, by any member.
  virtual Result<std::vector<Delivery>> ListDeliveries(const DeliveryFilter& filter) = 0;
  // PENDING again and due now, tried as long as a new one. kNotFound.
  virtual Result<Delivery> ResendDelivery(uint64_t id, WallTime now) = 0;
};

}  // namespace carillon
