#include "common/adapters/kafka/partition_watch.h"

#include <algorithm>
#include <utility>

namespace carillon::kafka {
namespace {

Owned<rd_kafka_topic_partition_list_t> ListOf(const std::string& topic,
                                              const std::vector<int>& partitions, int64_t offset) {
  Owned<rd_kafka_topic_partition_list_t> list(
      rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const int partition : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  }
  return list;
}

bool Answered(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t& answers) {
  for (int i = 0; i < answers.cnt && error == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
    error = answers.elems[i].err;
  }
  return error == RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace

PartitionWatch::PartitionWatch(rd_kafka_t* client, std::string topic,
                               const std::map<int, int64_t>& begins)
    : client_(client), topic_(std::move(topic)) {
  for (const auto& [partition, offset] : begins) {
    partitions_.push_back(partition);
    if (offset >= 0) handled_[partition] = offset;
  }
  asker_ = std::thread([this] { Run(); });
}

PartitionWatch::~PartitionWatch() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  changed_.notify_all();
  asker_.join();
}

void PartitionWatch::Handled(const std::map<int, int64_t>& next) {
  MutexLock lock(mu_);
  for (const auto& [partition, offset] : next) {
    int64_t& handled = handled_[partition];
    handled = std::max(handled, offset);
  }
}

BusHealth PartitionWatch::Look() {
  MutexLock lock(mu_);
  if (contact_ != BusHealth::Contact::kAnswers) return {.contact = contact_};
  int64_t behind = 0;
  for (const auto& [partition, end] : ends_) {
    // The end was read up to a few seconds ago. The handled position may be beyond this end now.
    behind += std::max<int64_t>(0, end - handled_.at(partition));
  }
  return {.contact = contact_, .behind = behind};
}

void PartitionWatch::Run() {
  while (true) {
    const bool answered = Ask();
    MutexLock lock(mu_);
    failures_ = answered ? 0 : std::min(failures_ + 1, kFailuresMax);
    if (answered) contact_ = BusHealth::Contact::kAnswers;
    if (failures_ == kFailuresMax) contact_ = BusHealth::Contact::kSilent;
    const bool stopped = changed_.wait_for(mu_, answered ? kAskEvery : kAskAgain,
                                           [this]() REQUIRES(mu_) { return stopping_; });
    if (stopped) return;
  }
}

bool PartitionWatch::Ask() {
  if (!AskBegins()) return false;
  std::map<int, int64_t> ends = AskOffsets(partitions_, RD_KAFKA_OFFSET_END);
  if (ends.empty()) return false;
  MutexLock lock(mu_);
  ends_ = std::move(ends);
  return true;
}

// Finds the start of the partitions without handled records: the group's committed position, or the
// oldest record.
bool PartitionWatch::AskBegins() {
  const std::vector<int> partitions = Unplaced();
  if (partitions.empty()) return true;
  const auto committed = ListOf(topic_, partitions, RD_KAFKA_OFFSET_INVALID);
  if (!Answered(rd_kafka_committed(client_, committed.get(), kAnswerMs), *committed)) return false;
  std::map<int, int64_t> begins = AskOffsets(partitions, RD_KAFKA_OFFSET_BEGINNING);
  if (begins.empty()) return false;
  for (int i = 0; i < committed->cnt; ++i) {
    int64_t& begin = begins[committed->elems[i].partition];
    begin = std::max(begin, committed->elems[i].offset);
  }
  Handled(begins);
  return true;
}

std::map<int, int64_t> PartitionWatch::AskOffsets(const std::vector<int>& partitions,
                                                  int64_t point) {
  const auto asked = ListOf(topic_, partitions, point);
  std::map<int, int64_t> offsets;
  if (Stopping()) return offsets;
  if (!Answered(rd_kafka_offsets_for_times(client_, asked.get(), kAnswerMs), *asked))
    return offsets;
  for (int i = 0; i < asked->cnt; ++i) {
    offsets[asked->elems[i].partition] = asked->elems[i].offset;
  }
  return offsets;
}

bool PartitionWatch::Stopping() {
  MutexLock lock(mu_);
  return stopping_;
}

std::vector<int> PartitionWatch::Unplaced() {
  MutexLock lock(mu_);
  std::vector<int> unplaced;
  for (const int partition : partitions_) {
    if (!handled_.contains(partition)) unplaced.push_back(partition);
  }
  return unplaced;
}

}  // namespace carillon::kafka
