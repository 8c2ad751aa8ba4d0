// Port of notices and of their deliveries.
//
// Threads  Thread-safe; blocking.
// Errors   As firing_store.h for calls with a fence, else as job_store.h.
// Always   The transaction (FiringStore) that causes a failure, a missed fire or a late start also
//          writes the notice, once for each run, attempt and kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/notice.h"
#include "common/domain/run/run.h"
#include "common/ports/fence.h"
#include "common/ports/store/bounded_count.h"

namespace carillon {

// A notification about a run or missed fires.
struct Notice {
  uint64_t id = 0;  // assigned by the store
  NoticeKind kind = NoticeKind::kFailed;
  SegmentId segment;
  JobNo job_no;
  RunKey key;  // kMissed: the schedule and its first missed fire
  int attempt = 1;
  RunState state = RunState::kFailed;
  std::string reason = {};
  int64_t fires = 1;            // kMissed: number of fires
  WallTime until = WallTime{};  // kMissed: the last fire
  WallTime created = WallTime{};
};

// The number of attempts that began: a skip ends an attempt that never began.
inline int TriesOf(const Notice& notice) {
  return notice.state == RunState::kSkipped ? notice.attempt - 1 : notice.attempt;
}

// True if the notice counts for a limit that is common to all jobs: what pauses one job often
// pauses hundreds. A job with events or addresses of its own has a limit of its own, too.
inline bool SharesMemory(const Notice& notice, const NotifyRules& rules) {
  if (notice.kind == NoticeKind::kShed) return true;  // of the cluster
  return notice.kind == NoticeKind::kJobPaused && !rules.on && rules.mail_to.empty();
}

// An undecided notice, with the input of the decision.
struct OpenNotice {
  Notice notice;
  JobId job_id;
  std::string job_name;
  NotifyRules rules;    // of the job's current version; defaults if that is unreadable
  NoticeMemory memory;  // of the same kind, and of the same job or (SharesMemory) all jobs
  // Filled in by FindRun, if the notice will be sent.
  std::optional<RunDetail> run = {};
};

struct NewDelivery {
  DeliveryChannel channel = DeliveryChannel::kWebhook;
  std::vector<std::string> recipients = {};  // kMail
  std::string message = {};                  // as sent on every try
};

// The decision about a notice.
struct NoticeDecision {
  Notice notice;
  NoticeVerdict verdict = NoticeVerdict::kDrop;
  bool shares_memory = false;
  std::vector<NewDelivery> deliveries = {};  // kTell
};

// One message about a notice on one channel, and its state.
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
  WallTime asked;               // creation, or the latest ResendDelivery
  WallTime due;                 // kPending: earliest time of the next try
  WallTime ended = WallTime{};  // zero: kPending
  int status = 0;               // last HTTP or SMTP status; 0 = none
  std::string error = {};       // error of the last try; empty = none
  std::vector<std::string> recipients = {};
  std::string message = {};  // set only by ScanDeliveries
};

// The job whose memory the decision is noted in; 0 stands for all jobs.
inline JobNo MemoryOf(const NoticeDecision& decision) {
  return decision.shares_memory ? JobNo{} : decision.notice.job_no;
}

// The result of one try of a delivery.
struct DeliveryOutcome {
  uint64_t id = 0;
  SegmentId segment;
  WallTime asked;  // `asked` of the delivery that was sent
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

// A job with a notified failure, and its success afterwards.
struct Recovery {
  SegmentId segment;
  JobNo job_no;
  RunKey key;
  int attempt = 1;
};
struct RecoveryPage {
  std::vector<Recovery> recoveries;
  std::optional<JobNo> next;  // where to continue; nullopt = all jobs were examined
};

struct DeliveryBacklog {
  int64_t pending = 0;       // counted up to 10,000
  WallTime oldest = kNever;  // smallest `asked`; kNever = none
};

class NoticeStore {
 public:
  virtual ~NoticeStore() = default;

  // Undecided notices of `segments`, oldest first. Takes no locks.
  virtual Result<std::vector<OpenNotice>> ScanNotices(const std::vector<SegmentId>& segments,
                                                      size_t limit) = 0;
  // The run with its attempts; nullopt for kMissed, or if it is gone.
  virtual Result<std::optional<RunDetail>> FindRun(const Notice& notice) = 0;
  // Stores the decisions, creates the deliveries (due now) and updates the jobs' memories; all or
  // nothing. kConflict: a notice has been decided meanwhile.
  virtual Status DecideNotices(const std::vector<NoticeDecision>& decisions, const Fence& fence,
                               WallTime now) = 0;
  // Adds notices of late starts and of recoveries that scans have found. Existing notices are kept.
  // After a job's recovery, ScanRecoveries does not examine the job until its next
  // notified failure.
  virtual Status AddNotices(const std::vector<Notice>& notices, const Fence& fence) = 0;
  // Examines up to `limit` jobs of `segments` after `after`, by their fires up to `now`. If a job
  // has many fires, only the newest are examined. Takes no locks.
  virtual Result<RecoveryPage> ScanRecoveries(const std::vector<SegmentId>& segments,
                                              std::optional<JobNo> after, WallTime now,
                                              size_t limit) = 0;

  // PENDING deliveries that are due on one of `channels`, earliest due time first. Takes no locks.
  virtual Result<std::vector<Delivery>> ScanDeliveries(const std::vector<SegmentId>& segments,
                                                       const std::vector<DeliveryChannel>& channels,
                                                       WallTime now, size_t limit) = 0;
  // Does nothing if the delivery is no longer PENDING, or was requested again meanwhile.
  virtual Status RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence,
                                WallTime now) = 0;
  virtual Result<DeliveryBacklog> ReadBacklog(const std::vector<SegmentId>& segments) = 0;

  // The calls from here on are for users; any member may make them.
  virtual Result<std::vector<Delivery>> ListDeliveries(const DeliveryFilter& filter) = 0;
  virtual Result<BoundedCount> CountDeliveries(const DeliveryFilter& filter) = 0;
  // Makes the delivery PENDING and due now, with as much time for tries as a new one. kNotFound.
  virtual Result<Delivery> ResendDelivery(uint64_t id, WallTime now) = 0;
};

}  // namespace carillon
