// Handles the outcome of every fenced write: a success proves ownership; a fenced write ends it
// for the segments whose epoch moved; an unknown outcome ends it for all of them, so that they are
// taken again with a higher epoch (docs/adr/0006-outcome-unknown.md).
//
// Threads  Thread-safe.
#pragma once

#include <string_view>
#include <utility>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/metrics.h"
#include "common/ports/segment_store.h"
#include "scheduler/assign/segment_table.h"

namespace carillon::scheduler {

class FencedWriter {
 public:
  FencedWriter(const Clock& clock, SegmentStore& segments, SegmentTable& table, Metrics& metrics)
      : clock_(clock), segments_(segments), table_(table), metrics_(metrics) {}

  // Runs `write` (a fenced store call under `fence`)
  // and files its outcome. `op` labels the metrics.
  template <typename Write>
  auto Run(std::string_view op, const Fence& fence, Write write) {
    auto outcome = RunAside(op, fence, std::move(write));
    if (!outcome.ok() && outcome.code() == ErrorCode::kTimeout) {
      table_.Drop(fence, DropCause::kUnknownOutcome);
    }
    return outcome;
  }

  // Likewise for a write on whose outcome no firing depends: an unknown one ends nothing, and the
  // caller may repeat it.
  template <typename Write>
  auto RunAside(std::string_view op, const Fence& fence, Write write) {
    const SteadyTime sent = clock_.Steady();
    auto outcome = write();
    if (outcome.ok()) {
      Succeeded(fence, sent);
    } else {
      Failed(op, fence, outcome.error());
    }
    return outcome;
  }

  // A fence read: the epochs now in force, compared with ours; also a proof.
  Status Check(const Fence& fence);

 private:
  void Succeeded(const Fence& fence, SteadyTime sent);
  void Failed(std::string_view op, const Fence& fence, const Error& error);

  const Clock& clock_;
  SegmentStore& segments_;
  SegmentTable& table_;
  Metrics& metrics_;
};

}  // namespace carillon::scheduler
