#include "tests/sim/letters_check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace carillon::sim {

LettersCheck::LettersCheck(memory::MemoryStores& stores, memory::MemoryBus& bus)
    : stores_(stores), topic_(bus.NewConsumer(kTopic, "outside")) {}

void LettersCheck::Read() {
  const auto records = topic_->Poll(SIZE_MAX);
  for (const ReceivedRecord& one : *records) {
    published_.insert(nlohmann::json::parse(one.record.payload).at("id").get<uint64_t>());
  }
  static_cast<void>(topic_->Commit(*records).ok());
}

std::optional<std::string> LettersCheck::Missing() {
  Read();
  const auto letters = stores_.runs.ListDeadLetters({.limit = SIZE_MAX});
  for (const DeadLetter& letter : *letters) {
    if (published_.contains(letter.id)) continue;
    return fmt::format("letter {} of run {} was not published", letter.id, EncodeRunId(letter.key));
  }
  return std::nullopt;
}

}  // namespace carillon::sim
