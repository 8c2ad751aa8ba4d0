// Records between scheduler and executors. Like Kafka: partitions in order, at least once; a record
// may come twice, late, or again from an earlier position after a restart.
//
// Errors   Send: kExhausted when the local queue is full. Poll: kUnavailable.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/stable_hash.h"
#include "common/base/time.h"

namespace carillon {

inline constexpr std::string_view kTasksTopic = "carillon.tasks";
inline constexpr std::string_view kResultsTopic = "carillon.results";
inline constexpr std::string_view kLogsTopic = "carillon.logs";
inline constexpr std::string_view kDeadLettersTopic = "carillon.dead_letters";

// Whose remainder by the number of partitions is where an executor's tasks are: it reads no other.
inline uint64_t TaskPartitionKey(const ExecutorId& executor) {
  return StableHash(executor.value());
}

struct BusRecord {
  std::string payload;
  std::map<std::string, std::string> headers;
};

struct ReceivedRecord {
  BusRecord record;
  int partition = 0;
  int64_t offset = 0;
};

// The begin of a consumer: at the first record of this time or later, or at the next one that
// comes. Times are those of the senders' clocks.
struct BusBegin {
  enum class Of {
    kNewGroup,  // a group that has a position continues there
    kAnyGroup,  // a group whose position is older skips what lies between
  };
  WallTime at{};
  Of of = Of::kNewGroup;
};

class BusProducer {
 public:
  virtual ~BusProducer() = default;
  // Hands the record to the bus; delivery is asynchronous and may fail silently (the caller's own
  // time-out finds out). The partition is `partition_key` modulo their number.
  virtual Status Send(std::string_view topic, uint64_t partition_key, BusRecord record) = 0;
};

// What a consumer knows of its bus, a few seconds old.
struct BusHealth {
  enum class Contact {
    kUnknown,  // nothing was asked yet
    kAnswers,
    kSilent,  // for some partition of the consumer at least
  };
  Contact contact = Contact::kUnknown;
  // Records of its partitions that it has not dealt with; nullopt while that is not known.
  std::optional<int64_t> behind = {};
};

// Of BusHealth::behind, as a gauge shows it: no comparison holds of what is not known.
inline double GaugeOf(const std::optional<int64_t>& behind) {
  return behind ? static_cast<double>(*behind) : std::numeric_limits<double>::quiet_NaN();
}

class BusConsumer {
 public:
  virtual ~BusConsumer() = default;
  // Up to `max` records, without waiting. Order holds within a partition.
  virtual Result<std::vector<ReceivedRecord>> Poll(size_t max) = 0;
  // Everything up to these positions is dealt with and need not come again.
  virtual Status Commit(const std::vector<ReceivedRecord>& handled) = 0;
  // Called (from any thread) when Poll may have something. Set before first use.
  virtual void OnReadable(std::function<void()> wake) = 0;
  // How far it is behind what was sent, counted up to its last Commit. Thread-safe; never waits for
  // the bus.
  virtual BusHealth Look() = 0;
};

}  // namespace carillon
