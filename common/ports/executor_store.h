// Port of the executors that the store knows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/executor_state.h"

namespace carillon {

struct ExecutorLoad {
  double cpu = 0;     // 0-1 of the host
  double memory = 0;  // 0-1
  double disk = 0;    // 0-1 of the work directory's file system
  double io = 0;      // 0-1 of the time some process waited for IO
};

// What a store keeps of each.
inline constexpr size_t kExecutorHostBytesMax = 255;
inline constexpr size_t kExecutorVersionBytesMax = 64;

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
  // Known from its heartbeats only:
  int64_t config_version = 0;                // of the live settings it applied
  std::optional<int64_t> tasks_behind = {};  // records of its partition that it has not taken
  std::string trouble = {};                  // why it takes no work though alive; empty: it does
};

struct LabelEdit {
  ExecutorId id;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> expected;  // whose place they take
};

class ExecutorStore {
 public:
  virtual ~ExecutorStore() = default;

  // Inserts or refreshes; keeps enabled, draining and labels of a known one. kInvalid: a text is
  // longer than the store keeps.
  virtual Result<ExecutorRecord> RegisterExecutor(const ExecutorRecord& record) = 0;
  // state, slots, running, load, last_heartbeat of each; unknown ids, and those that another
  // incarnation has by now, are ignored.
  virtual Status UpdateExecutors(const std::vector<ExecutorRecord>& records) = 0;
  virtual Result<std::vector<ExecutorRecord>> ListExecutors() = 0;
  virtual Result<ExecutorRecord> GetExecutor(const ExecutorId& id) = 0;
  // Obeyed by every claim after this returns.
  virtual Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) = 0;
  virtual Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) = 0;
  // Idempotent. kConflict: neither `expected` are there nor `labels` already.
  virtual Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) = 0;
};

}  // namespace carillon
