// Runs fenced writes and updates the segment table by their outcome:
// - A success proves ownership.
// - A refusal by the fence ends the ownership of the segments whose epoch has changed.
// - An unknown outcome ends the ownership of all segments of the fence. They are then taken again
//   with a higher epoch (docs/adr/0006-outcome-unknown.md).
//
// Threads  Thread-safe.
#pragma once

#include <string_view>
#include <utility>

#include "common/base/clock.h"
#include "common/base/failpoint.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/segment_store.h"
#include "scheduler/assign/segment_table.h"

namespace carillon::scheduler {

class FencedWriter {
 public:
  FencedWriter(const Clock& clock, SegmentStore& segments, SegmentTable& table, Metrics& metrics)
      : clock_(clock), segments_(segments), table_(table), metrics_(metrics) {}

  // Runs `write`, a store call fenced by `fence`, and updates the segment table by its outcome.
  // Returns the result of `write`. `op` is the label in metrics and log.
  template <typename Write>
  auto Run(std::string_view op, const Fence& fence, Write write) {
    auto outcome = RunAside(op, fence, std::move(write));
    if (!outcome.ok() && outcome.code() == ErrorCode::kTimeout) {
      table_.Drop(fence, DropCause::kUnknownOutcome);
    }
    return outcome;
  }

  // Like Run, but an unknown outcome does not end ownership. The caller may repeat the write. Use
  // it only for writes on which no start of a run depends.
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

  // Reads the current epochs from the store and compares them with `fence`. An equal epoch proves
  // the ownership of its segment. Segments with another epoch are dropped. Returns an error if the
  // epochs could not be read.
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
