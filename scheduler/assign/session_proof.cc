#include "scheduler/assign/session_proof.h"

namespace carillon::scheduler {
namespace {

// The store's proof is renewed once a second. The session's proof costs a quorum write, so it is
// made only when the last proof is this old. Together with the time limit of a proof, this stays
// below the age at which renewals of leases stop.
constexpr Duration kProofFresh = 1500ms;
constexpr Duration kProveAgain = 500ms;  // also while the session cannot prove some segment
constexpr Duration kLookEvery = 1s;      // while no segment is held

}  // namespace

SteadyTime SessionProof::Step(SteadyTime now) {
  const auto assignment = assignment_.Follow();
  const auto oldest = table_.OldestProof();
  if (!oldest) return now + kLookEvery;
  const SteadyTime due = std::max(next_, *oldest + kProofFresh);
  if (now < due) return due;
  if (assignment.ok()) Prove();
  next_ = clock_.Steady() + kProveAgain;
  return next_;
}

void SessionProof::Prove() {
  const uint64_t joins = coordinator_.Joins();
  const SteadyTime sent = clock_.Steady();
  const auto generation = coordinator_.ProveSession();
  if (!generation.ok() || coordinator_.Joins() != joins) return;
  table_.ProvedBySession(*generation, joins, sent);
}

}  // namespace carillon::scheduler
