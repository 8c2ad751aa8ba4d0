// Writes claims and results that are plain (see common/domain/run/plain.h). One UPDATE writes a
// batch, and its WHERE clause checks every fact. The rows are not read first.
//
// Threads  PlainPath and SeenJobs are thread-safe.
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
  kMissed,  // the facts did not hold for all runs: the caller must roll back
};

// Write the items with the indexes `places`. The indexes are sorted by the keys of the runs, as in
// PlainSplit::plain. `incarnations` has the number of the incarnation for each request.
Result<Facts> WritePlainClaims(Session& session, const std::vector<ClaimRequest>& requests,
                               const std::vector<uint32_t>& incarnations,
                               const std::vector<size_t>& places, WallTime now);
Result<Facts> WritePlainResults(Session& session, const std::vector<ResultReport>& reports,
                                const std::vector<size_t>& places);

// Decides whether to try a batch as plain. A miss costs a statement and a rollback. After one miss
// another miss is likely. So after a miss the next batch is not tried: its rows are read.
// After two consecutive misses, the next two batches are not tried, then four, and so on up
// to kPlainPauseMax.
inline constexpr int kPlainPauseMax = 64;  // batches
class PlainPath {
 public:
  bool Try();
  void Note(Facts facts);

 private:
  Mutex mu_;
  int left_out_ GUARDED_BY(mu_) = 0;  // batches whose rows are still to be read
  int pause_ GUARDED_BY(mu_) = 0;     // length of the latest pause; 0: the last try held
};

enum class Look { kPlain, kEachRow };

// Calls `write` for a batch inside a transaction. The first call has kPlain, so that the rows of
// plain items are not read. If this call misses (returns nullopt), rolls back and calls `write`
// with kEachRow. The second call locks the fence again and reads every row.
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

// Jobs with a run that was seen to have a property because of which its claim, or its result, is
// not plain. A batch with such an item misses if it is tried as plain. If a job is not known here,
// the only cost is this miss.
inline constexpr size_t kSeenJobsMax = 32'768;
class SeenJobs {
 public:
  void Note(JobNo job_no, bool seen);
  // The jobs of those items whose runs may have the property.
  template <typename Item>
  std::set<JobNo> Among(const std::vector<Item>& items) const {
    MutexLock lock(mu_);
    std::set<JobNo> among;
    if (jobs_.empty() || Forgets()) return among;
    for (const Item& item : items) {
      if (jobs_.contains(item.job_no)) among.insert(item.job_no);
    }
    return among;
  }

 private:
  static bool Forgets();

  mutable Mutex mu_;
  std::set<JobNo> jobs_ GUARDED_BY(mu_);
};

struct PlainMemory {
  PlainPath claims;
  PlainPath results;
  SeenJobs slot_jobs;    // the run holds a row of run_slots
  SeenJobs behalf_jobs;  // the run has run_flag::kOnBehalf
};

}  // namespace carillon::mysql
