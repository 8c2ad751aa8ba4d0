// The port LetterStore in memory.
#pragma once

#include <vector>

#include "common/ports/store/letter_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryLetterStore final : public LetterStore {
 public:
  explicit MemoryLetterStore(MemoryTables& tables) : tables_(tables) {}

  Result<uint64_t> BeginPublishing(WallTime now) override;
  Result<LettersToPublish> ScanUnpublished(uint64_t first, size_t limit) override;
  Result<LetterBacklog> GetBacklog() override;
  Status MarkPublished(const std::vector<uint64_t>& ids) override;

 private:
  LetterToPublish Describe(const DeadLetter& letter) const REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
