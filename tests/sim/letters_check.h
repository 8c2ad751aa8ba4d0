// The reader of the topic to which dead letters are published: each letter that exists at the end
// must have reached it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/adapters/memory/memory_bus.h"
#include "tests/twins/memory_stores.h"

namespace carillon::sim {

class LettersCheck {
 public:
  static constexpr const char* kTopic = "letters";

  // Lets the members of this store publish. Reads without faults.
  LettersCheck(memory::MemoryStores& stores, memory::MemoryBus& bus);

  // Call it often: a partition of the bus keeps a limited number of records.
  void Read();
  // A letter that is not in the topic; nullopt: none.
  std::optional<std::string> Missing();
  size_t published() const { return published_.size(); }

 private:
  memory::MemoryStores& stores_;
  const std::unique_ptr<BusConsumer> topic_;
  std::set<uint64_t> published_;  // ids of letters
};

}  // namespace carillon::sim
