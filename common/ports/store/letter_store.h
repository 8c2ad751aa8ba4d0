// Port of the dead letters that are published to a topic.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
// Always   Letters are marked without a fence, because a mark only says what has happened: that the
//          bus has the letter. Two members that publish at once do so twice, and lose nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/ports/store/run_store.h"

namespace carillon {

// A dead letter with what its readers need: of its job as it is now, and of its run.
struct LetterToPublish {
  DeadLetter letter;
  std::string job_name = {};
  std::string name_space = {};
  std::map<std::string, std::string> labels = {};  // none if the definition is unreadable
  // Zero or empty: unknown, or the run is gone.
  WallTime started = WallTime{};
  WallTime ended = WallTime{};
  ExecutorId executor = {};
  std::optional<int> exit_code = {};
  std::string error = {};
};

struct LettersToPublish {
  std::vector<LetterToPublish> letters;
  int64_t waiting = 0;  // all that are not published, counted up to kLettersCountedMax
};

inline constexpr int64_t kLettersCountedMax = 10'000;
// So much older than the first call of BeginPublishing may letters be that are published.
inline constexpr Duration kLettersBeforeBegin = 60s;

// The letters that wait to be published.
struct LetterBacklog {
  int64_t waiting = 0;           // counted up to kLettersCountedMax
  WallTime oldest = WallTime{};  // when the first of them by id was left; zero: there is none

  bool operator==(const LetterBacklog&) const = default;
};

class LetterStore {
 public:
  virtual ~LetterStore() = default;

  // The lowest id of a letter that is to be published. The first call decides it for ever: letters
  // that were created kLettersBeforeBegin earlier are not. Those of the time between are, because a
  // transaction of that time may commit later than the call, with a lower id than others have.
  virtual Result<uint64_t> BeginPublishing(WallTime now) = 0;
  // Letters from the id `first` on that are not published, by id. Takes no locks. Those in a state
  // that this version does not know are left to a newer one.
  virtual Result<LettersToPublish> ScanUnpublished(uint64_t first, size_t limit) = 0;
  // Decides nothing: before the first call of BeginPublishing, none waits. Takes no locks.
  virtual Result<LetterBacklog> GetBacklog() = 0;
  // Letters that do not exist any more are passed over.
  virtual Status MarkPublished(const std::vector<uint64_t>& ids) = 0;
};

}  // namespace carillon
