// The progress of a run and the facts of its checkpoint, as they are stored (run_save.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace carillon {

// The progress that an attempt reports.
struct RunProgress {
  std::optional<int> percent = {};  // 0-100
  std::string text = {};            // UTF-8

  bool operator==(const RunProgress&) const = default;
};

struct SavedState {
  std::optional<RunProgress> progress = {};
  WallTime progress_at = WallTime{};
  // The checkpoint, without its bytes.
  struct Checkpoint {
    int64_t size = 0;
    int attempt = 1;  // that saved it
    WallTime at = WallTime{};

    bool operator==(const Checkpoint&) const = default;
  };
  std::optional<Checkpoint> checkpoint = {};

  bool operator==(const SavedState&) const = default;
};

}  // namespace carillon
