#include "scheduler/assign/session_proof.h"

namespace carillon::scheduler {
namespace {

// The store's proof is renewed once a second. A proof by the session costs a quorum write, so it is
// requested only when the last proof is this old. The sum of this age and the time limit of a proof
// is less than the age at which leases are no longer renewed.
constexpr Duration kProofFresh = 1500ms;
constexpr Duration kProveAgain = 500ms;   // minimum between two proofs, also after a failed one
constexpr Duration kProofLookEvery = 1s;  // while no segment is held

}  // namespace

SteadyTime SessionProof::Step(SteadyTime now) {
  const auto assignment = assignment_.Follow();
  const auto oldest = table_.OldestProof();
  if (!oldest) return now + kProofLookEvery;
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
