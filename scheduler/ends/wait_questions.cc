#include "scheduler/ends/wait_questions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/domain/job/fire_zone.h"

namespace carillon::scheduler {

WaitRules WaitRulesOf(const JobVersionRecord& record) {
  const JobDefinition& job = record.definition;
  WaitRules rules{
      .waits = job.waits_for, .limit_s = job.wait_limit_s, .zone = FireZone(job, nullptr)};
  for (size_t i = 0; i < record.schedule_ids.size() && i < job.schedules.size(); ++i) {
    rules.zones[record.schedule_ids[i]] = FireZone(job, &job.schedules[i]);
  }
  return rules;
}

void WaitQuestions::Add(const AwaitingRun& run, const WaitRules& rules) {
  const auto of_schedule = rules.zones.find(run.row.key.schedule_id);
  const std::string& usual = of_schedule == rules.zones.end() ? rules.zone : of_schedule->second;
  Run one{.row = run.row,
          .limit = WaitLimit(run.row.key.fire, run.planned, rules.limit_s),
          .zone = run.kept_zone.empty() ? usual : run.kept_zone,
          .questions = {}};
  for (const UpstreamWait& wait : rules.waits) {
    const auto window = WindowOf(wait.window, run.row.key.fire, one.zone);
    one.questions.push_back({wait, window.ok() ? std::optional(*window) : std::nullopt});
    if (!window.ok()) continue;
    Facts& facts = facts_[TargetOf(wait)];
    facts.from = std::min(facts.from, window->from);
    facts.to = std::max(facts.to, window->ahead_until);
  }
  runs_.push_back(std::move(one));
}

std::vector<UpstreamTarget> WaitQuestions::Targets() const {
  std::vector<UpstreamTarget> targets;
  for (const auto& [target, facts] : facts_) targets.push_back(target);
  return targets;
}

std::vector<UpstreamSpan> WaitQuestions::Spans(const std::vector<UpstreamTarget>& targets) const {
  std::vector<UpstreamSpan> spans;
  for (const UpstreamTarget& target : targets) {
    const Facts& facts = facts_.at(target);
    spans.push_back({.sources = facts.sources, .from = facts.from, .to = facts.to});
  }
  return spans;
}

WaitQuestions::Alone WaitQuestions::AloneOf(const Question& question) {
  return {TargetOf(question.wait), question.window->from, question.window->ahead_until};
}

WaitAnswer WaitQuestions::Answer(const Question& question) {
  if (!question.window) return {.cause = WaitCause::kNoFire};
  const FireWindow& window = *question.window;
  const UpstreamWait& wait = question.wait;
  Facts& facts = facts_.at(TargetOf(wait));
  const auto [known, added] = facts.answers.try_emplace(
      Asked{window.from, window.until, window.ahead_until, wait.on, wait.which});
  WaitAnswer& answer = known->second;
  if (added) answer = JudgeWait(wait, window, facts.sources, facts.runs);
  if (answer.verdict != WaitVerdict::kUnknown) return answer;
  const auto read = alone_.find(AloneOf(question));
  if (read == alone_.end()) return answer;
  WaitAnswer alone = JudgeWait(wait, window, facts.sources, read->second);
  // More runs than are ever read: only a person can say.
  if (alone.verdict == WaitVerdict::kUnknown) alone = {.cause = WaitCause::kTooManyRuns};
  return answer = alone;
}

std::vector<WaitQuestions::Alone> WaitQuestions::Unknown() {
  std::set<Alone> found;
  for (const Run& run : runs_) {
    for (const Question& question : run.questions) {
      const bool known = Answer(question).verdict != WaitVerdict::kUnknown;
      if (!known) found.insert(AloneOf(question));
    }
  }
  return {found.begin(), found.end()};
}

UpstreamSpan WaitQuestions::SpanOf(const Alone& alone) const {
  return {.sources = facts_.at(alone.target).sources, .from = alone.from, .to = alone.until};
}

WaitJudgement WaitQuestions::Judge(size_t i) {
  const Run& run = runs_.at(i);
  WaitJudgement judgement{.verdict = WaitVerdict::kMet, .limit = run.limit};
  for (const Question& question : run.questions) {
    const WaitAnswer answer = Answer(question);
    if (answer.verdict == WaitVerdict::kMet) continue;
    // One that is not met is enough, whatever the others are.
    if (answer.verdict == WaitVerdict::kUnknown) {
      judgement.verdict = WaitVerdict::kUnknown;
      continue;
    }
    judgement.verdict = WaitVerdict::kNotMet;
    judgement.sentence = WaitSentence(question.wait, answer, {run.limit}, run.zone);
    break;
  }
  return judgement;
}

}  // namespace carillon::scheduler
