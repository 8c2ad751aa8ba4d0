// State that an attempt saves while it runs: progress for those who watch, and a checkpoint from
// which a later attempt of the run continues. Pure.
//
// Always   A save is kept only while the run is RUNNING under the claim of the saving attempt, so
//          that an attempt that was given up cannot overwrite what its successor has saved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/domain/run/run.h"

namespace carillon {

// Name the two files, in the environment of a process.
inline constexpr char kProgressFileVariable[] = "CARILLON_PROGRESS_FILE";
inline constexpr char kCheckpointFileVariable[] = "CARILLON_CHECKPOINT_FILE";
inline constexpr size_t kProgressBytesMax = 4u << 10;  // of the file
inline constexpr size_t kCheckpointBytesMax = 1u << 20;

// The changes that an attempt has made since its last save.
struct RunSave {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  ClaimToken token;
  uint64_t seq = 0;  // increases with each save of the attempt
  std::optional<RunProgress> progress = {};
  std::optional<std::string> checkpoint = {};  // any bytes; at most kCheckpointBytesMax
};

// The attempt and the number of the last save that was kept.
struct SavePosition {
  int attempt = 0;
  uint64_t seq = 0;

  auto operator<=>(const SavePosition&) const = default;
};

enum class SaveVerdict {
  kKept,
  kKeptBefore,  // this save, or a later one of the attempt, is stored already
  kRefused,     // the run does not run under this claim, or its row says otherwise
};
// `run`: its locked row; null: there is none. `last`: nullopt if nothing is saved.
SaveVerdict DecideSave(const RunRow* run, const std::optional<SavePosition>& last,
                       const RunSave& save);

}  // namespace carillon
