// The writes of claims and results that are plain (common/domain/plain.h): one UPDATE for a batch,
// whose WHERE says every fact, in place of reading the rows, deciding and writing them.
//
// Threads  PlainPath and SlotJobs are thread-safe.
#pragma once

#include <optional>
#include <set>
#include <type_traits>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/base/mutex.h"
#include "common/domain/plain.h"

namespace carillon::mysql {

enum class Facts {
  kHeld,
  kMissed,  // not of all the runs: what was written is to be rolled back
};

// The items at `places`, in the order of their keys. `incarnations` are the numbers of the
// requests' executors.
Result<Facts> WritePlainClaims(Session& session, const std::vector<ClaimRequest>& requests,
                               const std::vector<uint32_t>& incarnations,
                               const std::vector<size_t>& places, WallTime now);
Result<Facts> WritePlainResults(Session& session, const std::vector<ResultReport>& reports,
                                const std::vector<size_t>& places);

// Whether a batch is to be tried as plain. A miss costs a statement and a rollback, and where one
// row of a batch is not as it should be, one of the next batch may not be either: after a miss the
// next batch is read, after a second one the next two, and so on up to kPlainPauseMax.
inline constexpr int kPlainPauseMax = 64;  // batches
class PlainPath {
 public:
  bool Try();
  void Note(Facts facts);

 private:
  Mutex mu_;
  int left_out_ GUARDED_BY(mu_) = 0;  // batches still to be read
  int pause_ GUARDED_BY(mu_) = 0;     // after the last miss; 0: the last one held
};

enum class Look { kPlain, kEachRow };

// Runs `write` for a batch inside a transaction: first for its plain items without a look at their
// rows; where that misses (nullopt), in a fresh transaction, fence and all, with a look at each.
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

// Jobs of which some run was seen to hold an overlap slot: their results are not plain, and a batch
// with one of them would miss. Forgetting a job, or not knowing it yet, costs a miss.
inline constexpr size_t kSlotJobsKept = 32'768;
class SlotJobs {
 public:
  void Note(JobNo job_no, bool slot_taken);
  // Which of the reports may be of runs that hold one.
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
