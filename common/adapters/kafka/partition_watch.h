// Measures how far a consumer is behind the end of its partitions, by asking the brokers every
// few seconds.
//
// Place    Implements BusConsumer::Look for kafka_consumer.cc.
// Threads  Thread-safe. Owns a thread, so that no reader waits for a broker.
// Time     One request to each broker every kAskEvery, for the ends of all partitions. Positions
//          committed before the start are requested once.
// Errors   After kFailuresMax failed rounds in a row, the bus counts as silent. The lag is then
//          reported as unknown.
#pragma once

#include <condition_variable>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/adapters/kafka/kafka_client.h"
#include "common/base/mutex.h"
#include "common/ports/message_bus.h"

namespace carillon::kafka {

class PartitionWatch {
 public:
  static constexpr Duration kAskEvery = 3s;
  static constexpr Duration kAskAgain = 500ms;  // after a failed round
  static constexpr int kAnswerMs = 2000;
  static constexpr int kFailuresMax = 2;  // failed rounds in a row until the bus counts as silent

  // `begins` has the start position of each partition. If a position is negative, the brokers are
  // asked for the start. `client` must outlive the watch.
  PartitionWatch(rd_kafka_t* client, std::string topic, const std::map<int, int64_t>& begins);
  // Waits for a request in progress: up to kAnswerMs.
  ~PartitionWatch();

  // Notes that the consumer has handled all records before these positions.
  void Handled(const std::map<int, int64_t>& next);
  BusHealth Look();

 private:
  void Run();
  // Makes one round of requests. Returns false if a request was not answered.
  bool Ask();
  bool AskBegins();
  // Returns the offsets at `point` (RD_KAFKA_OFFSET_BEGINNING or _END) by partition; empty if a
  // broker did not answer.
  std::map<int, int64_t> AskOffsets(const std::vector<int>& partitions, int64_t point);
  std::vector<int> Unplaced();
  bool Stopping();

  rd_kafka_t* const client_;
  const std::string topic_;
  std::vector<int> partitions_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::map<int, int64_t> handled_ GUARDED_BY(mu_);  // by partition: the next offset to handle
  std::map<int, int64_t> ends_ GUARDED_BY(mu_);
  BusHealth::Contact contact_ GUARDED_BY(mu_) = BusHealth::Contact::kUnknown;
  int failures_ GUARDED_BY(mu_) = 0;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread asker_;  // declared last, because the thread uses the variables above
};

}  // namespace carillon::kafka
