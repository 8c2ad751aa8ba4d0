#include "common/adapters/memory/memory_bus.h"

#include <algorithm>
#include <utility>

namespace carillon::memory {

class MemoryProducer final : public BusProducer {
 public:
  explicit MemoryProducer(MemoryBus& bus) : bus_(bus) {}
  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
              Delivered delivered) override {
    CARILLON_TRY(bus_.Append(topic, partition_key, std::move(record)));
    if (delivered) delivered(Status());
    return {};
  }

 private:
  MemoryBus& bus_;
};

class MemoryConsumer final : public BusConsumer {
 public:
  MemoryConsumer(MemoryBus& bus, std::string topic, std::string group, std::vector<int> partitions,
                 const std::optional<BusBegin>& begin);
  ~MemoryConsumer() override;
  Result<std::vector<ReceivedRecord>> Poll(size_t max) override;
  Status Commit(const std::vector<ReceivedRecord>& handled) override;
  void OnReadable(std::function<void()> wake) override;
  BusHealth Look() override;

 private:
  MemoryBus& bus_;
  const std::string topic_;
  const std::string group_;
  uint64_t id_ = 0;
  std::vector<std::pair<int, int64_t>> positions_;  // partition, next offset; guarded by bus_.mu_
  size_t turn_ = 0;  // index in positions_ where the next Poll begins; guarded by bus_.mu_
};

MemoryConsumer::MemoryConsumer(MemoryBus& bus, std::string topic, std::string group,
                               std::vector<int> partitions, const std::optional<BusBegin>& begin)
    : bus_(bus), topic_(std::move(topic)), group_(std::move(group)) {
  MutexLock lock(bus_.mu_);
  id_ = ++bus_.last_consumer_;
  MemoryBus::Topic& found = bus_.FindTopic(topic_);
  if (partitions.empty()) {
    for (int i = 0; i < bus_.options_.partitions; ++i) partitions.push_back(i);
  }
  for (const int number : partitions) {
    MemoryBus::Partition& partition = found.partitions.at(static_cast<size_t>(number));
    const int64_t position = MemoryBus::BeginOf(partition, group_, begin);
    partition.committed[group_] = position;
    CARILLON_CHECK(bus_.options_.shares_groups || !partition.live.contains(group_),
                   "one consumer of a group a partition");
    partition.live.insert(group_);
    positions_.push_back({number, position});
  }
}

MemoryConsumer::~MemoryConsumer() {
  MutexLock lock(bus_.mu_);
  MemoryBus::Topic& topic = bus_.FindTopic(topic_);
  topic.wakes.erase(id_);
  for (const auto& [number, position] : positions_) {
    std::multiset<std::string>& live = topic.partitions[static_cast<size_t>(number)].live;
    live.erase(live.find(group_));
  }
}

Result<std::vector<ReceivedRecord>> MemoryConsumer::Poll(size_t max) {
  MutexLock lock(bus_.mu_);
  MemoryBus::Topic& topic = bus_.FindTopic(topic_);
  std::vector<ReceivedRecord> taken;
  for (size_t i = 0; i < positions_.size() && taken.size() < max; ++i) {
    auto& [number, position] = positions_[(turn_ + i) % positions_.size()];
    const MemoryBus::Partition& partition = topic.partitions[static_cast<size_t>(number)];
    position = std::max(position, partition.first);
    const int64_t end = partition.first + static_cast<int64_t>(partition.records.size());
    for (; position < end && taken.size() < max; ++position) {
      const auto index = static_cast<size_t>(position - partition.first);
      taken.push_back({partition.records[index].record, number, position});
    }
  }
  // The next Poll starts with another partition, so that a busy partition does not
  // starve the other partitions.
  if (!positions_.empty()) turn_ = (turn_ + 1) % positions_.size();
  return taken;
}

Status MemoryConsumer::Commit(const std::vector<ReceivedRecord>& handled) {
  MutexLock lock(bus_.mu_);
  MemoryBus::Topic& topic = bus_.FindTopic(topic_);
  for (const ReceivedRecord& record : handled) {
    MemoryBus::Partition& partition = topic.partitions.at(static_cast<size_t>(record.partition));
    int64_t& committed = partition.committed[group_];
    committed = std::max(committed, record.offset + 1);
  }
  for (const auto& [number, position] : positions_) {
    bus_.Trim(topic.partitions[static_cast<size_t>(number)]);
  }
  return {};
}

void MemoryConsumer::OnReadable(std::function<void()> wake) {
  MutexLock lock(bus_.mu_);
  bus_.FindTopic(topic_).wakes[id_] = std::move(wake);
}

BusHealth MemoryConsumer::Look() {
  MutexLock lock(bus_.mu_);
  const MemoryBus::Topic& topic = bus_.FindTopic(topic_);
  int64_t behind = 0;
  for (const auto& [number, position] : positions_) {
    const MemoryBus::Partition& partition = topic.partitions[static_cast<size_t>(number)];
    const int64_t end = partition.first + static_cast<int64_t>(partition.records.size());
    behind += end - std::max(partition.first, partition.committed.at(group_));
  }
  return {.contact = BusHealth::Contact::kAnswers, .behind = behind};
}

MemoryBus::MemoryBus(Options options, const Clock* clock) : options_(options), clock_(clock) {
  CARILLON_CHECK(options_.partitions > 0 && options_.records_max > 0, "an empty bus");
}

std::unique_ptr<BusProducer> MemoryBus::NewProducer() {
  return std::make_unique<MemoryProducer>(*this);
}

std::unique_ptr<BusConsumer> MemoryBus::NewConsumer(std::string_view topic, std::string_view group,
                                                    std::vector<int> partitions,
                                                    std::optional<BusBegin> begin) {
  return std::make_unique<MemoryConsumer>(*this, std::string(topic), std::string(group),
                                          std::move(partitions), begin);
}

int64_t MemoryBus::BeginOf(const Partition& partition, const std::string& group,
                           const std::optional<BusBegin>& begin) {
  const auto committed = partition.committed.find(group);
  const bool known = committed != partition.committed.end();
  const int64_t position = std::max(known ? committed->second : 0, partition.first);
  if (!begin || (known && begin->of == BusBegin::Of::kNewGroup)) return position;
  const auto& records = partition.records;
  const auto first = std::find_if(records.begin(), records.end(),
                                  [&](const SentRecord& record) { return record.at >= begin->at; });
  return std::max(position, partition.first + (first - records.begin()));
}

MemoryBus::Topic& MemoryBus::FindTopic(const std::string& name) {
  Topic& topic = topics_[name];
  if (topic.partitions.empty()) {
    topic.partitions.resize(static_cast<size_t>(options_.partitions));
  }
  return topic;
}

bool MemoryBus::HasRoom(const Partition& partition, size_t bytes) const {
  if (partition.records.empty()) return true;
  return partition.records.size() < options_.records_max &&
         partition.bytes + bytes <= options_.bytes_max;
}

void MemoryBus::Trim(Partition& partition, size_t bytes) {
  const auto drop_first = [&partition] {
    partition.bytes -= partition.records.front().record.payload.size();
    partition.records.pop_front();
    ++partition.first;
  };
  int64_t kept_from = partition.first + static_cast<int64_t>(partition.records.size());
  // If no group has a live consumer, keeps the records that fit, because a group may come back.
  if (partition.live.empty()) kept_from = partition.first;
  for (const std::string& group : partition.live) {
    kept_from = std::min(kept_from, partition.committed[group]);
  }
  while (partition.first < kept_from) drop_first();
  if (!partition.live.empty()) return;
  while (!HasRoom(partition, bytes)) drop_first();
}

Status MemoryBus::Append(std::string_view topic_name, uint64_t partition_key, BusRecord record) {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(mu_);
    Topic& topic = FindTopic(std::string(topic_name));
    Partition& partition = topic.partitions[partition_key % topic.partitions.size()];
    const size_t bytes = record.payload.size();
    if (!HasRoom(partition, bytes)) Trim(partition, bytes);
    if (!HasRoom(partition, bytes)) {
      return {ErrorCode::kExhausted, "bus: a partition of " + std::string(topic_name) + " is full"};
    }
    partition.bytes += bytes;
    partition.records.push_back(
        {.record = std::move(record), .at = clock_ == nullptr ? WallTime{} : clock_->Wall()});
    for (const auto& [id, wake] : topic.wakes) wakes.push_back(wake);
  }
  for (const auto& wake : wakes) wake();
  return {};
}

size_t MemoryBus::size() const {
  MutexLock lock(mu_);
  size_t records = 0;
  for (const auto& [name, topic] : topics_) {
    for (const Partition& partition : topic.partitions) records += partition.records.size();
  }
  return records;
}

}  // namespace carillon::memory
