// The scaffold of the loops that continue something in this member's segments: when they look, what
// they set aside after an error, and how they write.
//
// Threads  One loop calls it; Nudge is thread-safe.
// Time     A look is due every second, every 100 ms while there is work, and 20 ms after the last
//          one if nudged. Writes use the settled cluster time. After this host's clock was set, no
//          look takes place until the next sample, which the owner of the segments takes at once;
//          that is tried again every 100 ms. An earlier time would do for some writes (admission,
//          backfills), but not for others, and one rule for all costs only this pause.
// Errors   Each error of the store is counted once: those of scans here, and those of writes by
//          FencedWriter, which also logs them. It leaves conflicts to its caller, which is Write.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/live_settings.h"
#include "common/base/metrics/metrics.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/signals.h"

namespace carillon::scheduler {

// The ports that every loop of an owner needs.
struct OwnerPorts {
  const ClusterClock& cluster;
  SegmentTable& segments;
  FencedWriter& fences;
  const LiveSettings& settings;
  const MemberSignals& signals;
  Metrics& metrics;

  // True while the whole cluster is paused.
  bool paused() const { return settings.paused(); }
};

class OwnerScan {
 public:
  static constexpr Duration kEvery = 1s;
  static constexpr Duration kEveryIfBusy = 100ms;
  static constexpr Duration kGap = 20ms;  // between two looks, however often the scan is nudged
  static constexpr Duration kAsideFor = 10s;
  static constexpr size_t kAsideMax = 1'000;

  struct Look {
    std::shared_ptr<const OwnedView> view;
    std::vector<SegmentId> segments;  // active, at least one
    WallTime cluster_now;             // settled
    SteadyTime now;
    bool regular = false;  // due without a Nudge
  };
  // kReported: the write concerns one item, and a conflict is an error like any other.
  enum class Conflicts { kReported, kLeftToCaller };

  // `name` is the component in the log.
  OwnerScan(std::string_view name, const OwnerPorts& ports) : name_(name), ports_(ports) {}

  // Asks for a look at everything. Returns false if the scan was nudged already.
  bool Nudge() { return !nudged_.exchange(true); }
  bool IsDue(SteadyTime now) const { return now >= Next(); }
  // The time at which the next look is due.
  SteadyTime Next() const;

  // Begins a look. nullopt: no segment is active, or the cluster time is not settled.
  std::optional<Look> Begin(SteadyTime now);
  // The following apply to the look that has begun.
  // The next look goes on where this one ended, so that a Nudge since then stays pending.
  void Continue() { continues_ = true; }
  // There is work.
  void SetBusy() { busy_ = true; }

  // Runs `write(fence, cluster_now)`, fenced by those of the `segments` that `look` owns. Errors of
  // `write` name the `subject`, unless it is empty. kFenced: the look owns none of them, or is over
  // because the cluster time is not settled any more. Then nothing is written, counted or logged.
  template <typename Function>
  auto Write(std::string_view op, const std::string& subject, const Look& look,
             std::vector<SegmentId> segments, Function write,
             Conflicts conflicts = Conflicts::kReported)
      -> std::invoke_result_t<Function, const Fence&, WallTime> {
    const Fence fence = look.view->FenceFor(std::move(segments));
    if (fence.empty()) return Error{ErrorCode::kFenced, "no segment of the write is owned"};
    // Read after the items of this write, none of which may count as later.
    const auto cluster_now = ports_.cluster.SettledNow();
    if (!cluster_now) return Error{ErrorCode::kFenced, "the cluster time is not settled"};
    auto outcome = ports_.fences.Run(op, fence, [&] {
      auto written = write(fence, *cluster_now);
      if (!written.ok() && !subject.empty()) written = About(subject, written.error());
      return written;
    });
    if (!outcome.ok() && conflicts == Conflicts::kReported) ReportConflict(op, outcome.error());
    return outcome;
  }
  // Returns true if the scan succeeded; otherwise counts its error.
  template <typename T>
  bool Succeeded(const Result<T>& found) {
    if (!found.ok()) Count(found.code());
    return found.ok();
  }

  // Leaves an item whose write failed out for kAsideFor, so that it delays no others. `what` names
  // it in the log. Above kAsideMax items it is tried again at once.
  void SetAside(uint64_t id, std::string_view what, const Error& error, SteadyTime now);
  bool IsAside(uint64_t id) const { return aside_.contains(id); }
  size_t aside_count() const { return aside_.size(); }

 private:
  static Error About(const std::string& subject, Error error);
  void ReportConflict(std::string_view op, const Error& error);
  void Count(ErrorCode code);

  const std::string_view name_;
  const OwnerPorts ports_;
  std::atomic<bool> nudged_{false};
  bool continues_ = false;
  bool busy_ = false;
  SteadyTime last_ = SteadyTime::min();     // begin of the last look
  SteadyTime regular_ = SteadyTime::min();  // of the next look that nothing asks for
  std::map<uint64_t, SteadyTime> aside_;    // until when
};

}  // namespace carillon::scheduler
