// The control link: executors connect to the scheduler, one stream per member.
//
// Both ends are queues of messages, so that the same rooms run on gRPC and in the simulator. A
// message may be lost with its stream, arrive late, or be repeated after a reconnect. This is safe,
// because correctness depends only on claims and leases.
//
// Threads  Thread-safe. Never blocks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/cluster_settings.h"
#include "common/domain/run/run_save.h"
#include "common/domain/run/run_state.h"
#include "common/domain/secret_text.h"
#include "common/ports/message_bus.h"
#include "common/ports/store/executor_store.h"

namespace carillon {

// An attempt that an executor holds, with what a new owner needs to adopt it.
struct HeldAttempt {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  ClaimToken token;
};

// ---- executor -> member ------------------------------------------------------------------------

struct Register {
  ExecutorRecord record;         // id, incarnation, host, ops_port, slots, version, labels
  bool carries_records = false;  // it expects its tasks on the link, as link_bus sends them
};

// Sent at the interval that the member requests, and on changes. `sent_us` is the time of sending
// by the executor's steady clock. The reply returns `sent_us`, because leases begin at this time.
struct Heartbeat {
  int64_t sent_us = 0;
  int running_count = 0;  // attempts whose claim was or may have been accepted, until their result
                          // is applied
  ExecutorLoad load;
  int free_slots = 0;          // process slots, including those of `claiming`
  int free_light_slots = 0;    // free slots of in-process types (noop), likewise
  int slots = 0;               // all process slots; 0: as registered
  int64_t config_version = 0;  // version of the live settings in force
  Features features = {};      // what it can run
  std::map<std::string, HandlerSlots> handlers = {};  // by "app/name"; free as free_slots
  std::optional<int64_t> tasks_behind = {};           // as BusHealth::behind
  bool leaving = false;                // last heartbeat of a process that ends on purpose
  std::vector<HeldAttempt> running;    // attempts of this member's segments, as far as known
  std::vector<HeldAttempt> reporting;  // ended, result not yet applied
  // Why the executor takes no work although it is alive; empty if it takes work.
  std::string trouble = {};
  std::vector<HeldAttempt> claiming;  // claims sent to this member and not answered yet
  // The next heartbeat comes at the latest after this time; zero: an older version of the executor.
  Duration next_in = {};
};

// Requests to claim runs; the reply has the same batch_id.
struct ClaimBatch {
  // Time of sending by the executor's steady clock. Leases of accepted claims begin at this time.
  int64_t sent_us = 0;
  uint64_t batch_id = 0;
  std::vector<ClaimRequest> requests;
};

// A record of the bus, in an installation without brokers (common/link_bus).
struct CarriedRecord {
  std::string topic;
  uint64_t partition_key = 0;
  BusRecord record;
};

// Progress or a checkpoint of a running attempt; sent only to members that take saves. Repeated,
// with the content of then, until it is answered.
struct AttemptSave {
  RunSave save;
};

using FromExecutor = std::variant<Register, Heartbeat, ClaimBatch, CarriedRecord, AttemptSave>;

// ---- member -> executor ------------------------------------------------------------------------

// The reply to Register. Sent again when its content changes, and when a heartbeat shows that the
// executor has older settings.
struct Registered {
  bool accepted = true;
  std::string refusal = {};  // reason if not accepted: another executor with this id is alive
  bool enabled = true;
  bool draining = false;
  ClusterSettings settings = {};
  // The cluster time of sending. Executors use it to recognise expired tasks. Not set: unknown.
  std::optional<WallTime> cluster_time = {};
  Duration heartbeat = {};        // interval; zero: an older version of the member
  Duration quiet_heartbeat = {};  // of executors that hold nothing; zero: likewise
  bool takes_saves = false;
};

// Leases of `renewed` last until sent_us + lease, by the executor's clock.
struct HeartbeatReply {
  int64_t sent_us = 0;  // copied from the heartbeat
  Duration lease = 20s;
  bool registered = true;  // false: register again (the member was restarted)
  std::vector<HeldAttempt> renewed;
  std::optional<WallTime> cluster_time = {};  // as in Registered
};

// The verdict on each request of a ClaimBatch.
struct ClaimBatchReply {
  uint64_t batch_id = 0;
  int64_t sent_us = 0;
  Duration lease = 20s;
  struct Item {
    RunKey key;
    ClaimToken token;
    ClaimVerdict verdict = ClaimVerdict::kRefused;
    ClaimReason reason = ClaimReason::kNone;
    // For an accepted claim of a job with secrets: either the values of the secrets, or in
    // secret_failure the reason (reason::kSecret…) why the values cannot be provided. In the second
    // case the attempt is not started and ends as FAILED.
    SecretValues secrets = {};
    std::string secret_failure = {};
    std::string secret_error = {};
    // Of an accepted claim: what an earlier attempt has left for this one.
    std::optional<std::string> checkpoint = {};
  };
  std::vector<Item> items;
};

// The database has these results: the executor may delete them.
struct ResultsApplied {
  std::vector<HeldAttempt> applied;
};

// The database has these chunks of logs: the executor may delete them.
struct StoredOutput {
  HeldAttempt attempt;
  uint64_t first_seq = 0;  // number of the chunk's first entry
};
struct LogsStored {
  std::vector<StoredOutput> stored;
};

// Requests to end running attempts.
struct CancelAttempts {
  std::vector<HeldAttempt> attempts;
  // An executor of an older version treats every mode as graceful.
  CancelMode mode = CancelMode::kGraceful;
};

// The answer to an AttemptSave.
struct SaveAnswer {
  HeldAttempt attempt;
  uint64_t seq = 0;
  bool kept = true;  // false: the run does not run under this claim any more
};

using ToExecutor = std::variant<Registered, HeartbeatReply, ClaimBatchReply, ResultsApplied,
                                CancelAttempts, LogsStored, CarriedRecord, SaveAnswer>;

// ---- the two ends ------------------------------------------------------------------------------

struct MemberMessage {
  MemberId member;
  ToExecutor message;
};

class ExecutorLink {  // the executor's end
 public:
  virtual ~ExecutorLink() = default;
  // Members to which this executor has an open stream.
  virtual std::vector<MemberId> Members() = 0;
  virtual Status Send(const MemberId& member, FromExecutor message) = 0;
  virtual std::vector<MemberMessage> Receive(size_t max) = 0;
  virtual void OnReadable(std::function<void()> wake) = 0;
  // Ends the stream to a member that does not answer. A new one is opened.
  virtual void Close(const MemberId& member) = 0;
  // This executor holds nothing, so that the end of a stream hurts nobody: a new stream may be
  // opened at any time within `span`. Zero: at once. So a large fleet does not return as one.
  virtual void MayWait(Duration span) = 0;
};

// One process of an executor.
struct ExecutorProcess {
  ExecutorId executor;
  Incarnation incarnation;

  bool operator==(const ExecutorProcess&) const = default;
  auto operator<=>(const ExecutorProcess&) const = default;
};

struct ExecutorMessage {
  ExecutorId executor;
  Incarnation incarnation;
  FromExecutor message;
};

class ExecutorHub {  // the member's end, all executors
 public:
  virtual ~ExecutorHub() = default;
  virtual Status Send(const ExecutorId& executor, const Incarnation& incarnation,
                      ToExecutor message) = 0;
  virtual std::vector<ExecutorMessage> Receive(size_t max) = 0;
  // The processes whose stream has ended since the last call, and that have none now. None while
  // messages wait: those that were sent before the end are received first.
  virtual std::vector<ExecutorProcess> TakeEnded() = 0;
  // Called also when a stream has ended.
  virtual void OnReadable(std::function<void()> wake) = 0;
  // Ends the stream of a process that is given up. One that lives opens a new stream.
  virtual void Close(const ExecutorProcess& process) = 0;
};

}  // namespace carillon
