// Port of the executors known to the store.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/executor_state.h"
#include "common/domain/features.h"
#include "common/domain/host_check.h"

namespace carillon {

struct ExecutorLoad {
  double cpu = 0;     // 0-1 of the host
  double memory = 0;  // 0-1
  double disk = 0;    // 0-1 of the work directory's file system
  double io = 0;      // 0-1: part of the time in which some process waited for I/O
};

// The slots of a handler at one executor.
struct HandlerSlots {
  int slots = 0;  // of all its workers
  int free = 0;

  bool operator==(const HandlerSlots&) const = default;
};
inline constexpr size_t kHandlersMax = 1024;  // at one executor

// Limits of the stored texts.
inline constexpr size_t kExecutorHostBytesMax = 255;
inline constexpr size_t kExecutorVersionBytesMax = 64;

// Abilities of an executor, as of a heartbeat.
struct ExecutorAbilities {
  Features features = {};
  std::set<std::string> handlers = {};  // "app/name"

  bool operator==(const ExecutorAbilities&) const = default;
};

// A member gives an executor no work, or one run at a time, because its host could not run the
// last ones.
struct BreakerView {
  bool half_open = false;  // one run at a time
  Duration pause{};        // the length of the current pause, or of the last one

  bool operator==(const BreakerView&) const = default;
};

// An executor: as it registered, its state, and its last heartbeat.
struct ExecutorRecord {
  ExecutorId id;
  Incarnation incarnation;
  std::string host;
  int ops_port = 0;
  ExecutorState state = ExecutorState::kOnline;
  bool enabled = true;
  bool draining = false;
  std::map<std::string, std::string> labels;
  int slots = 0;
  int running = 0;
  ExecutorLoad load;
  WallTime last_heartbeat;
  WallTime registered;
  std::string version;
  // As stored, so some seconds old, or those of its process before.
  ExecutorAbilities abilities = {};
  // Known only from heartbeats, not stored:
  int64_t config_version = 0;                         // version of the live settings in force
  std::optional<int64_t> tasks_behind = {};           // unread records of its partition
  std::optional<Features> features = {};              // nullopt: it has no link to this member
  std::map<std::string, HandlerSlots> handlers = {};  // by "app/name"
  std::vector<HostCheck> checks = {};                 // its start-up report; empty: likewise
  // Why the executor takes no work although it is alive; empty if it takes work.
  std::string trouble = {};
  // Known to this member only, from the results of the runs that it owns:
  std::optional<BreakerView> breaker = {};
  bool claims_nothing = false;  // it is heard of, and claims none of the tasks that it is sent
};

// Replaces an executor's labels, if they are still `expected`.
struct LabelEdit {
  ExecutorId id;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> expected;  // the labels to replace
};

class ExecutorStore {
 public:
  virtual ~ExecutorStore() = default;

  // Inserts or updates all of them, of different ids; keeps enabled, draining, labels and abilities
  // of a known executor. Returns them as they are then, in the same order. kInvalid: a text is
  // above the limits, and none is registered.
  virtual Result<std::vector<ExecutorRecord>> RegisterExecutors(
      const std::vector<ExecutorRecord>& records) = 0;
  Result<ExecutorRecord> RegisterExecutor(const ExecutorRecord& record) {
    CARILLON_ASSIGN_OR_RETURN(std::vector<ExecutorRecord> stored, RegisterExecutors({record}));
    return std::move(stored.front());
  }
  // Updates state, slots, running, load and last_heartbeat of each executor. Ignores unknown ids,
  // and ids that another incarnation has registered meanwhile.
  virtual Status UpdateExecutors(const std::vector<ExecutorRecord>& records) = 0;
  // Updates the abilities of each executor, ignoring the same ones.
  virtual Status UpdateAbilities(const std::vector<ExecutorRecord>& records) = 0;
  virtual Result<std::vector<ExecutorRecord>> ListExecutors() = 0;
  virtual Result<ExecutorRecord> GetExecutor(const ExecutorId& id) = 0;
  // Every claim after the return obeys the change.
  virtual Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) = 0;
  virtual Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) = 0;
  // Idempotent. kConflict: the stored labels are neither `expected` nor `labels`.
  virtual Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) = 0;
};

}  // namespace carillon
