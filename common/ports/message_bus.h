// Records between scheduler and executors. As in Kafka, partitions are ordered and delivery is at
// least once: a record may arrive twice, late, or again from an earlier position after a restart.
//
// Errors   Send: kExhausted if the local queue is full. Poll: kUnavailable.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

// The key of an executor's tasks. The key modulo the number of partitions is the only partition
// that the executor reads.
inline uint64_t TaskPartitionKey(const ExecutorId& executor) {
  return StableHash(executor.value());
}

// One record; the headers carry a bundle's signature, target and expiry.
struct BusRecord {
  std::string payload;
  std::map<std::string, std::string> headers;
  // The record's key for readers that are not Carillon; empty = none. The partition does not follow
  // from it. The control link does not carry it.
  std::string key = {};
};

struct ReceivedRecord {
  BusRecord record;
  int partition = 0;
  int64_t offset = 0;
};

// The point at which a consumer begins to read: the first record sent at `at` or later. If there is
// no such record, the consumer begins with the next record to be sent. Times are by the
// senders' clocks.
struct BusBegin {
  enum class Of {
    kNewGroup,  // a group with a stored position continues there
    kAnyGroup,  // a group with an older position skips to `at`
  };
  WallTime at{};
  Of of = Of::kNewGroup;
};

// Told what became of a record that Send has accepted. Ok: the bus has stored it. kInvalid: the bus
// refuses it, or a record that was sent together with it, and would do so again. Other errors: it
// was given up, and may have been stored all the same.
using Delivered = std::function<void(const Status&)>;

class BusProducer {
 public:
  virtual ~BusProducer() = default;
  // Queues the record for sending. Delivery is asynchronous and may fail silently, so the caller
  // needs a timeout of its own. The partition is `partition_key` modulo the number of partitions.
  // kInvalid: the bus would never take this record.
  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record) {
    return Send(topic, partition_key, std::move(record), nullptr);
  }
  // As above. If it returns ok, `delivered` is called at most once: on any thread, perhaps before
  // Send returns, perhaps when the caller is gone. It is never called if the answer is lost, nor
  // for a record that a control link carries away. Null: nobody asks.
  virtual Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
                      Delivered delivered) = 0;
};

// The state of a consumer's bus, at most a few seconds old.
struct BusHealth {
  enum class Contact {
    kUnknown,  // not checked yet
    kAnswers,
    kSilent,  // at least one partition of the consumer does not answer
  };
  Contact contact = Contact::kUnknown;
  // Uncommitted records of the consumer's partitions; nullopt: unknown.
  std::optional<int64_t> behind = {};
};

// BusHealth::behind as the value of a gauge. If unknown, it is NaN, so that no alert fires: every
// comparison with NaN is false.
inline double GaugeOf(const std::optional<int64_t>& behind) {
  return behind ? static_cast<double>(*behind) : std::numeric_limits<double>::quiet_NaN();
}

class BusConsumer {
 public:
  virtual ~BusConsumer() = default;
  // Returns up to `max` records, without waiting. The records of one partition are in order.
  virtual Result<std::vector<ReceivedRecord>> Poll(size_t max) = 0;
  // Marks all records up to these positions as handled, so that they are not delivered again.
  virtual Status Commit(const std::vector<ReceivedRecord>& handled) = 0;
  // `wake` is called (on any thread) when Poll may return something. Set it before the first use.
  virtual void OnReadable(std::function<void()> wake) = 0;
  // Returns the state of the bus. `behind` already reflects every Commit so far. Thread-safe; never
  // waits for the bus.
  virtual BusHealth Look() = 0;
};

}  // namespace carillon
