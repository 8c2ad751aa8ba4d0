// The questions of the runs that wait for runs of other jobs, each asked and answered once a look,
// and the verdict on each run. Pure.
//
// Place    UpstreamWaits collects the runs, reads the targets and spans asked for, and ends the
//          waits that are met or over.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/ports/store/upstream_store.h"

namespace carillon::scheduler {

// The rules of a version of a job for the waits of its runs.
struct WaitRules {
  std::vector<UpstreamWait> waits;
  int64_t limit_s = 0;
  std::string zone;  // of its runs, unless a schedule has its own
  std::map<ScheduleId, std::string> zones = {};
};
WaitRules WaitRulesOf(const JobVersionRecord& record);

struct WaitJudgement {
  WaitVerdict verdict = WaitVerdict::kUnknown;
  WallTime limit = {};        // from when on the run waits no longer
  std::string sentence = {};  // of kNotMet
};

class WaitQuestions {
 public:
  // Runs whose version waits for nothing are met.
  void Add(const AwaitingRun& run, const WaitRules& rules);
  size_t size() const { return runs_.size(); }
  const RunRow& row(size_t i) const { return runs_[i].row; }

  // The targets of all runs, each once, and the span of the fires of each that are asked for.
  std::vector<UpstreamTarget> Targets() const;
  void Learn(const UpstreamTarget& target, UpstreamSources sources) {
    Facts& facts = facts_[target];
    facts.sources = std::move(sources);
    facts.answers.clear();
  }
  std::vector<UpstreamSpan> Spans(const std::vector<UpstreamTarget>& targets) const;
  void Learn(const UpstreamTarget& target, UpstreamRuns runs) {
    Facts& facts = facts_[target];
    facts.runs = std::move(runs);
    facts.answers.clear();
  }

  // A question whose runs were not all read: their span has too many.
  struct Alone {
    UpstreamTarget target;
    WallTime from, until;

    auto operator<=>(const Alone&) const = default;
  };
  std::vector<Alone> Unknown();
  UpstreamSpan SpanOf(const Alone& alone) const;
  // What is still not known then counts as not met.
  void Learn(const Alone& alone, UpstreamRuns runs) { alone_[alone] = std::move(runs); }

  WaitJudgement Judge(size_t i);

 private:
  struct Question {
    UpstreamWait wait;
    std::optional<FireWindow> window;  // nullopt: it cannot be computed
  };
  struct Run {
    RunRow row;
    WallTime limit;
    std::string zone;
    std::vector<Question> questions;
  };
  // What is asked about a target: window, outcome, which fires.
  using Asked = std::tuple<WallTime, WallTime, WallTime, AfterOutcome, WaitWhich>;
  struct Facts {
    WallTime from = kNever;
    WallTime to = WallTime{};
    UpstreamSources sources = {};
    UpstreamRuns runs = {};
    std::map<Asked, WaitAnswer> answers = {};  // by these sources and runs
  };

  static UpstreamTarget TargetOf(const UpstreamWait& wait) { return {wait.job, wait.in}; }
  static Alone AloneOf(const Question& question);
  WaitAnswer Answer(const Question& question);

  std::vector<Run> runs_;
  std::map<UpstreamTarget, Facts> facts_;
  std::map<Alone, UpstreamRuns> alone_;
};

}  // namespace carillon::scheduler
