#include "scheduler/ends/upstream_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/failpoint.h"
#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

using Targets = std::vector<UpstreamTarget>;

UpstreamSources WithoutFires(UpstreamSources sources) {
  sources.job_name.clear();
  sources.schedules.clear();
  sources.backfills.clear();
  return sources;
}

// True if all that the backfill may run was known before. Each step leaves it less.
bool WasLeftBefore(const SourceBackfill& after, const std::vector<SourceBackfill>& before) {
  return std::ranges::any_of(before, [&](const SourceBackfill& one) {
    return one.number == after.number && one.from <= after.from && after.until <= one.until;
  });
}

// True if plans and steps of backfills alone can have made the difference. Plans move schedules
// forward; an edit replaces them, and a pause moves them back. A backfill may end meanwhile.
bool DifferByPlans(const UpstreamSources& before, const UpstreamSources& after) {
  return WithoutFires(before) == WithoutFires(after) &&
         std::ranges::equal(before.schedules, after.schedules,
                            [](const SourceSchedule& one, const SourceSchedule& other) {
                              return one.id == other.id && one.next <= other.next;
                            }) &&
         std::ranges::all_of(after.backfills, [&](const SourceBackfill& one) {
           return WasLeftBefore(one, before.backfills);
         });
}

Targets SomeOf(const Targets& all, size_t first, size_t most) {
  const size_t last = std::min(all.size(), first + most);
  return {all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(last)};
}

std::string NameOf(const UpstreamTarget& target) {
  return target.in.empty() ? target.job.value() : target.job.value() + " in " + target.in.value();
}

}  // namespace

bool UpstreamReader::Read(WaitQuestions& questions, SteadyTime now) {
  sources_.clear();
  left_out_.clear();
  answered_ = false;
  if (targets_per_read_ < kTargetsPerRead && now >= more_at_) {
    targets_per_read_ = std::min(kTargetsPerRead, 2 * targets_per_read_);
    more_at_ = now + kMoreAfter;
  }
  const auto [usual, again] = TurnsOf(questions, now);
  TryAside(questions, again, now);
  const size_t most = targets_per_read_;
  for (size_t first = 0; first < usual.size(); first += most) {
    const Targets some = SomeOf(usual, first, most);
    const Status read = ReadBatch(questions, some, now);
    if (read.ok()) continue;
    // The next look does without the bad ones. What is read one by one is not of one moment.
    FindBad(questions, some, read.error(), now);
    ++read_from_;  // one that the store answers shows that it is not away
    return false;
  }
  ReadAlone(questions);
  return true;
}

UpstreamReader::Turns UpstreamReader::TurnsOf(const WaitQuestions& questions, SteadyTime now) {
  Turns turns;
  std::erase_if(aside_, [now](const auto& one) { return one.second.until + kAsideMax < now; });
  for (const UpstreamTarget& target : questions.Targets()) {
    const auto aside = aside_.find(target);
    if (aside == aside_.end()) {
      turns.usual.push_back(target);
      continue;
    }
    left_out_.insert(target);
    if (aside->second.until <= now) turns.again.push_back(target);
  }
  if (turns.usual.empty()) return turns;
  read_from_ %= turns.usual.size();
  const auto first = turns.usual.begin() + static_cast<std::ptrdiff_t>(read_from_);
  std::rotate(turns.usual.begin(), first, turns.usual.end());
  return turns;
}

Status UpstreamReader::ReadBatch(WaitQuestions& questions, const Targets& targets, SteadyTime now) {
  auto sources = store_.ReadSources(targets);
  if (!scan_.Succeeded(sources)) return sources.error();
  for (size_t i = 0; i < targets.size(); ++i) questions.Learn(targets[i], sources->at(i));
  auto runs = store_.ReadUpstreamRuns(questions.Spans(targets));
  if (!scan_.Succeeded(runs)) return runs.error();
  if (failpoint::Broken("await.runs_first")) {
    sources = store_.ReadSources(targets);
    if (!scan_.Succeeded(sources)) return sources.error();
    for (size_t i = 0; i < targets.size(); ++i) questions.Learn(targets[i], sources->at(i));
  }
  size_t count = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    count += runs->at(i).runs.size();
    questions.Learn(targets[i], std::move(runs->at(i)));
    sources_[targets[i]] = std::move(sources->at(i));
  }
  answered_ = true;
  if (count > kRunsPerRead) ReadFewer(targets.size(), now);
  return {};
}

void UpstreamReader::ReadFewer(size_t targets, SteadyTime now) {
  targets_per_read_ = std::max<size_t>(1, targets / 2);
  more_at_ = now + kMoreAfter;
}

void UpstreamReader::FindBad(WaitQuestions& questions, const Targets& targets, const Error& error,
                             SteadyTime now) {
  std::vector<std::pair<UpstreamTarget, Error>> bad;
  if (targets.size() == 1) bad.emplace_back(targets.front(), error);
  const size_t from = try_from_;
  for (size_t i = 0; targets.size() > 1 && i < targets.size(); ++i, ++try_from_) {
    if (bad.size() == kFailuresPerLook) break;
    const UpstreamTarget& target = targets[(from + i) % targets.size()];
    const Status read = ReadBatch(questions, {target}, now);
    if (!read.ok()) bad.emplace_back(target, read.error());
  }
  if (!answered_) return;  // the store is away, or the next look tries others first
  for (const auto& [target, why] : bad) SetAside(target, why, now);
  if (!bad.empty()) return;
  ReadFewer(targets.size(), now);
}

void UpstreamReader::TryAside(WaitQuestions& questions, const Targets& targets, SteadyTime now) {
  size_t failures = 0;
  for (const UpstreamTarget& target : targets) {
    const Status read = ReadBatch(questions, {target}, now);
    if (read.ok()) {
      aside_.erase(target);  // so the next look reads it with the others
      continue;
    }
    SetAside(target, read.error(), now);
    if (++failures == kFailuresPerLook) return;
  }
}

void UpstreamReader::SetAside(const UpstreamTarget& target, const Error& error, SteadyTime now) {
  Aside& aside = aside_[target];
  aside.wait = aside.wait == Duration{} ? kAsideFor : std::min(kAsideMax, 2 * aside.wait);
  aside.until = now + aside.wait;
  log::Error("waits", "who waits for {} is left for {} s: {}", NameOf(target), aside.wait / 1s,
             error.message);
}

void UpstreamReader::ReadAlone(WaitQuestions& questions) {
  const std::vector<WaitQuestions::Alone> unknown = questions.Unknown();
  const size_t from = alone_from_;
  size_t failures = 0;
  for (size_t i = 0; i < std::min(kAlonePerLook, unknown.size()); ++i, ++alone_from_) {
    if (failures == kFailuresPerLook) return;
    const WaitQuestions::Alone& alone = unknown[(from + i) % unknown.size()];
    auto runs = store_.ReadUpstreamRuns({questions.SpanOf(alone)});
    if (scan_.Succeeded(runs)) {
      questions.Learn(alone, std::move(runs->at(0)));
    } else {
      ++failures;  // it stays unknown in this look
    }
  }
}

bool UpstreamReader::Confirm(const std::set<UpstreamTarget>& targets) {
  const Targets all(targets.begin(), targets.end());
  for (size_t first = 0; first < all.size(); first += kTargetsPerRead) {
    const Targets some = SomeOf(all, first, kTargetsPerRead);
    const auto sources = store_.ReadSources(some);
    if (!scan_.Succeeded(sources)) return false;
    for (size_t i = 0; i < some.size(); ++i) {
      const auto before = sources_.find(some[i]);
      const bool was_read = before != sources_.end();
      if (was_read && !DifferByPlans(before->second, sources->at(i))) left_out_.insert(some[i]);
    }
  }
  return true;
}

}  // namespace carillon::scheduler
