// Writes claims and results that are plain (common/domain/run/plain.h): one UPDATE for a batch, whose
// WHERE clause checks every fact, instead of reading the rows, deciding and writing them.
//
// Threads  PlainPath and SlotJobs are thread-safe.
#pragma once

#include <optional>
#include <set>
#include <type_traits>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/base/mutex.h"
#include "common/domain/run/plain.h"

namespace carillon::mysql {

enum class Facts {
  kHeld,
  kMissed,  // not for all runs: the caller must roll back
};

// Write the items at `places`, in the order of their keys. `incarnations` are the numbers of the
// requests' incarnations, one per request.
Result<Facts> WritePlainClaims(Session& session, const std::vector<ClaimRequest>& requests,
                               const std::vector<uint32_t>& incarnations,
                               const std::vector<size_t>& places, WallTime now);
Result<Facts> WritePlainResults(Session& session, const std::vector<ResultReport>& reports,
                                const std::vector<size_t>& places);

// Decides whether to try a batch as plain. A miss costs a statement and a rollback, and after one
// miss another is likely. So after a miss the rows of the next batch are read, after a second miss
// in a row those of the next two, then four, and so on up to kPlainPauseMax.
inline constexpr int kPlainPauseMax = 64;  // batches
class PlainPath {
 public:
  bool Try();
  void Note(Facts facts);

 private:
  Mutex mu_;
  int left_out_ GUARDED_BY(mu_) = 0;  // batches whose rows are still to be read
  int pause_ GUARDED_BY(mu_) = 0;     // batches after the last miss; 0: the last try held
};

enum class Look { kPlain, kEachRow };

// Runs `write` for a batch inside a transaction. First with kPlain, which does not read the rows of
// plain items. If that misses (nullopt), rolls back and runs it again, including the fence, with
// kEachRow, which reads every row.
template <typename Write>
auto PlainFirst(Session& session, PlainPath& path, Write write)
    -> Result<typename std::invoke_result_t<Write, Look>::value_type::value_type> {
  if (path.Try()) {
    CARILLON_ASSIGN_OR_RETURN(auto written, write(Look::kPlain));
    path.Note(written ? Facts::kHeld : Facts::kMissed);
    if (written) return std::move(*written);
    CARILLON_TRY(session.Rollback());
  }
  CARILLON_ASSIGN_OR_RETURN(auto written, write(Look::kEachRow));
  CARILLON_CHECK(written.has_value(), "a batch that was read has no facts to miss");
  return std::move(*written);
}

// Jobs with a run that was seen to hold an overlap slot. Their results are not plain, and a batch
// that contains one would miss. A job that is not known here costs a miss, nothing more.
inline constexpr size_t kSlotJobsKept = 32'768;
class SlotJobs {
 public:
  void Note(JobNo job_no, bool slot_taken);
  // Returns the jobs of those reports whose runs may hold a slot.
  std::set<JobNo> Among(const std::vector<ResultReport>& reports) const;

 private:
  mutable Mutex mu_;
  std::set<JobNo> jobs_ GUARDED_BY(mu_);
};

struct PlainMemory {
  PlainPath claims;
  PlainPath results;
  SlotJobs slot_jobs;
};

}  // namespace carillon::mysql
