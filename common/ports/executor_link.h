// The control link: executors dial out, one stream for each member of the scheduler.
//
// Both ends are queues of messages, so that the same rooms run on gRPC and in the simulator. A
// message may be lost with its stream, late or (after a reconnect) repeated; nothing here is needed
// for correctness except through claims and leases.
//
// Threads  Thread-safe. Never blocks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/cluster_settings.h"
#include "common/domain/run_state.h"
#include "common/domain/secret_text.h"
#include "common/ports/executor_store.h"

namespace carillon {

// An attempt an executor holds, named so that a new owner can adopt it.
struct HeldAttempt {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  ClaimToken token;
};

// ---- executor -> member
// --------------------------------------------------------------------------

struct Register {
  ExecutorRecord record;  // id, incarnation, host, ops_port, slots, version, labels
};

// Sent as often as its member wants it, and when something changed. `sent` is the executor's steady
// clock, returned in the answer: leases age from it.
struct Heartbeat {
  int64_t sent_us = 0;
  int running_count = 0;  // perhaps accepted, and its end not yet applied
  ExecutorLoad load;
  int free_slots = 0;                        // of process slots, `claiming` counted as free
  int free_light_slots = 0;                  // likewise, of in-process types (noop)
  int slots = 0;                             // process slots in all; 0: as registered
  int64_t config_version = 0;                // of the live settings that it applied
  bool takes_secrets = false;                // of a version that knows them
  std::optional<int64_t> tasks_behind = {};  // as BusHealth::behind
  bool leaving = false;                      // the last of this process, which ends on purpose
  std::vector<HeldAttempt> running;          // of segments this member owns, as far as known
  std::vector<HeldAttempt> reporting;        // ended, result not yet applied
  std::string trouble = {};                  // why it takes no work though alive; empty: it does
  std::vector<HeldAttempt> claiming;         // asked of this member and not answered yet
};

struct ClaimBatch {
  int64_t sent_us = 0;  // executor's steady clock: the lease of what is accepted ages from it
  uint64_t batch_id = 0;
  std::vector<ClaimRequest> requests;
};

using FromExecutor = std::variant<Register, Heartbeat, ClaimBatch>;

// ---- member -> executor
// --------------------------------------------------------------------------

// Also sent, unasked, when something of it changed, and when a heartbeat shows older settings.
struct Registered {
  bool accepted = true;
  std::string refusal = {};  // a second executor with this id is alive
  bool enabled = true;
  bool draining = false;
  ClusterSettings settings = {};
  // When it was sent; executors judge by it whether a task has expired. Not set: not known.
  std::optional<WallTime> cluster_time = {};
  Duration heartbeat = {};  // between two of them; zero: of a version that does not tell
};

// What the owner grants: leases of `renewed` last until sent_us + lease, by the executor's clock.
struct HeartbeatReply {
  int64_t sent_us = 0;  // of the heartbeat
  Duration lease = 20s;
  bool registered = true;  // false: register again (the member restarted)
  std::vector<HeldAttempt> renewed;
  std::optional<WallTime> cluster_time = {};  // as in Registered
};

struct ClaimBatchReply {
  uint64_t batch_id = 0;
  int64_t sent_us = 0;
  Duration lease = 20s;
  struct Item {
    RunKey key;
    ClaimToken token;
    ClaimVerdict verdict = ClaimVerdict::kRefused;
    ClaimReason reason = ClaimReason::kNone;
    // Accepted, and its job uses secrets: either their values, or why (reason::kSecret…) it cannot
    // have them; then it ends as FAILED without having been started.
    SecretValues secrets = {};
    std::string secret_failure = {};
    std::string secret_error = {};
  };
  std::vector<Item> items;
};

// The database has these results: the spool entries may go.
struct ResultsApplied {
  std::vector<HeldAttempt> applied;
};

// The database has these pieces of logs: nobody else need keep them.
struct StoredOutput {
  HeldAttempt attempt;
  uint64_t first_seq = 0;  // of the chunk
};
struct LogsStored {
  std::vector<StoredOutput> stored;
};

struct CancelAttempts {
  std::vector<HeldAttempt> attempts;
  // An executor of a version that does not know it takes it as graceful.
  CancelMode mode = CancelMode::kGraceful;
};

using ToExecutor = std::variant<Registered, HeartbeatReply, ClaimBatchReply, ResultsApplied,
                                CancelAttempts, LogsStored>;

// ---- the two ends
// --------------------------------------------------------------------------------

struct MemberMessage {
  MemberId member;
  ToExecutor message;
};

class ExecutorLink {  // the executor's end
 public:
  virtual ~ExecutorLink() = default;
  // Members this executor has a stream to now.
  virtual std::vector<MemberId> Members() = 0;
  virtual Status Send(const MemberId& member, FromExecutor message) = 0;
  virtual std::vector<MemberMessage> Receive(size_t max) = 0;
  virtual void OnReadable(std::function<void()> wake) = 0;
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
  virtual void OnReadable(std::function<void()> wake) = 0;
};

}  // namespace carillon
