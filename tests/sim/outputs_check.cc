#include "tests/sim/outputs_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/wire/json/job/given_parameters.h"

namespace carillon::sim {
namespace {

using memory::MemoryTables;
using memory::RunEntry;

constexpr char kName[] = "of";

// Written out here, so that a mistake in the rule itself is noticed.
bool Asks(const MemoryTables& tables, const RunKey& run) REQUIRES(tables.mu) {
  const memory::ScheduleEntry* schedule = tables.FindSchedule(run.schedule_id);
  return schedule != nullptr && schedule->spec.kind == ScheduleKind::kAfter &&
         schedule->spec.parameters.contains(kName);
}

std::string Wrong(const RunEntry& run, const std::string& what) {
  return fmt::format("run {} after {}: {}", EncodeRunId(run.row.key),
                     run.trigger ? EncodeRunId(run.trigger->run) : "none", what);
}

}  // namespace

std::string OutputOf(const RunKey& key, int attempt) {
  return fmt::format("{}#{}", EncodeRunId(key), attempt);
}

void OutputsCheck::RunWritten(const RunRow* before, const RunRow* after) {
  if (after == nullptr || !IsFinal(after->state)) return;
  if (before != nullptr && before->state == after->state && before->attempt == after->attempt) {
    return;
  }
  ends_[after->key].insert(after->attempt);
}

std::optional<std::string> OutputsCheck::AtRest(MemoryTables& tables, size_t* given) const {
  MutexLock lock(tables.mu);
  for (const auto& [key, run] : tables.runs()) {
    if (key.shard != 0 || !Asks(tables, key)) continue;
    if (auto wrong = Judge(tables, run, given)) return wrong;
  }
  return std::nullopt;
}

std::optional<std::string> OutputsCheck::Judge(const MemoryTables& tables, const RunEntry& run,
                                               size_t* given) const {
  if (!run.trigger) return std::nullopt;  // by hand
  const RunKey& upstream = run.trigger->run;
  const auto ends = ends_.find(upstream);
  if (ends == ends_.end()) return Wrong(run, "its upstream run has not ended");
  if (run.row.state == RunState::kSkipped && run.result.reason == "bad_parameters") {
    const RunEntry* before = tables.FindRun(upstream);
    const bool once = ends->second.size() == 1;
    const bool had = before != nullptr && before->result.outputs.contains(kName);
    return once && had ? std::optional(Wrong(run, "skipped, but the output is there"))
                       : std::nullopt;
  }
  const auto own = GivenFromText(run.parameters_json);
  if (!own.ok()) return Wrong(run, "its parameters cannot be read");
  const auto value = own->values.find(kName);
  if (value == own->values.end()) return Wrong(run, "started without the output");
  const bool its_own = std::ranges::any_of(ends->second, [&](int attempt) {
    return value->second == ParameterValue(OutputOf(upstream, attempt));
  });
  if (!its_own) return Wrong(run, "it has " + ParameterText(value->second));
  if (!own->untrusted.contains(kName)) return Wrong(run, "the output counts as trusted");
  ++*given;
  return std::nullopt;
}

}  // namespace carillon::sim
