// A message bus inside one process: topics with partitions and offsets, and consumers that continue
// from the positions that their group committed.
//
// Place    The bus of a standalone server, and of the simulator, which adds faults to it.
// Threads  Thread-safe. The bus outlives its producers and consumers.
// Owns     The records. A partition drops a record when every group with a live consumer has
//          committed past it. Groups without a live consumer do not delay this.
// Errors   Send: kExhausted when the partition holds `records_max` records, or `bytes_max` bytes,
//          that the group of some live consumer has not committed.
// Always   Records of a partition stay in order. A position is never before the oldest kept record.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/message_bus.h"

namespace carillon::memory {

class MemoryBus {
 public:
  struct Options {
    int partitions = 8;           // partitions of each topic
    size_t records_max = 65'536;  // limit of one partition
    size_t bytes_max =
        size_t{64} << 20;  // likewise, of the payloads; a larger record fits if alone
    // As on Kafka, where nothing keeps two processes from reading the same for one group.
    bool shares_groups = false;
  };
  MemoryBus() : MemoryBus(Options{}) {}
  // `clock` gives the times at which records are sent. Without a clock every record has the time
  // zero, so a BusBegin finds records only if its time is zero.
  explicit MemoryBus(Options options, const Clock* clock = nullptr);

  int partitions() const { return options_.partitions; }
  std::unique_ptr<BusProducer> NewProducer();
  // Returns a consumer of `partitions` (empty = all) of the topic for `group`. The consumer starts
  // at the group's committed positions, or at the oldest record if the group is new. `begin` can
  // move the start to a later record. Unless
  // groups are shared, a partition has at most one live consumer of each group.
  std::unique_ptr<BusConsumer> NewConsumer(std::string_view topic, std::string_view group,
                                           std::vector<int> partitions = {},
                                           std::optional<BusBegin> begin = {});
  // The number of records currently kept, over all topics.
  size_t size() const;

 private:
  friend class MemoryProducer;
  friend class MemoryConsumer;

  struct SentRecord {
    BusRecord record;
    WallTime at{};
  };
  struct Partition {
    int64_t first = 0;  // offset of records.front()
    std::deque<SentRecord> records;
    size_t bytes = 0;                          // of their payloads
    std::map<std::string, int64_t> committed;  // by group: the next offset to read
    std::multiset<std::string> live;           // groups with a consumer
  };
  struct Topic {
    std::vector<Partition> partitions;
    std::map<uint64_t, std::function<void()>> wakes;  // by consumer
  };

  Topic& FindTopic(const std::string& name) REQUIRES(mu_);
  bool HasRoom(const Partition& partition, size_t bytes) const;
  // Drops records that no group needs. `bytes`: those of a record that is about to be added.
  void Trim(Partition& partition, size_t bytes = 0) REQUIRES(mu_);
  // The position at which `group` begins to read.
  static int64_t BeginOf(const Partition& partition, const std::string& group,
                         const std::optional<BusBegin>& begin);
  Status Append(std::string_view topic, uint64_t partition_key, BusRecord record);

  const Options options_;
  const Clock* const clock_;  // may be null
  mutable Mutex mu_;
  std::map<std::string, Topic> topics_ GUARDED_BY(mu_);
  uint64_t last_consumer_ GUARDED_BY(mu_) = 0;
};

}  // namespace carillon::memory
