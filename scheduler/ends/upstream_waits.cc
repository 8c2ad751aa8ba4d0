#include "scheduler/ends/upstream_waits.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "scheduler/assign/bisect.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {
namespace {

uint64_t IdOfWait(const RunKey& key) { return std::hash<RunKey>{}(key); }

JobVersionKey VersionOf(const RunRow& row) { return {row.job_no, row.def_version}; }

UpstreamTarget TargetOf(const UpstreamWait& wait) { return {wait.job, wait.in}; }

// The end of a wait that is known only if nothing has changed meanwhile.
struct Judged {
  const WaitRules* rules;
  WaitItem item;
};

}  // namespace

SteadyTime UpstreamWaits::Step(SteadyTime now) {
  if (ports_.owner.paused()) last_stop_ = now;
  if (now < next_) return next_;
  if (!scan_.IsDue(now)) return scan_.Next();
  if (!ports_.upgrade.FeatureOn(kFanOutMigration)) return next_ = now + kLookEvery;
  const auto look = scan_.Begin(now);
  if (!look) {
    Rest();
    return scan_.Next();
  }
  if (!look_began_) look_began_ = now;
  if (!round_began_) round_began_ = now;
  if (Advance(*look)) {
    scan_.Continue();
    return scan_.Next();
  }
  phase_ = Phase::kScan;
  runs_.clear();
  items_.clear();
  return next_ = AfterLook(now);
}

SteadyTime UpstreamWaits::AfterLook(SteadyTime now) {
  const Duration took = now - *std::exchange(look_began_, std::nullopt);
  const bool failed = std::exchange(failed_, false);
  const SteadyTime rested =
      now + (failed ? kLookEvery : std::clamp<Duration>(took, kRestMin, kLookEvery));
  if (after_) return rested;
  return std::max(rested, *std::exchange(round_began_, std::nullopt) + kLookEvery);
}

bool UpstreamWaits::Fail() {
  failed_ = true;
  return false;
}

void UpstreamWaits::Rest() {
  if (!ports_.owner.segments.View()->ActiveSegments().empty()) return;
  // Their next owner counts them.
  ports_.owner.metrics.gauge("carillon_awaiting_runs").Set(0);
  after_.reset();
  counted_ = 0;
}

void UpstreamWaits::NoteSeen(const Look& look) {
  // By cluster time, in which limits are given: the steady clock of a suspended host stands still.
  const bool at_once = seen_ && look.cluster_now - *seen_ <= kUnseenMax;
  if (!at_once) last_stop_ = look.now;
  seen_ = look.cluster_now;
}

bool UpstreamWaits::Advance(const Look& look) {
  if (phase_ != Phase::kScan) NoteSeen(look);
  switch (phase_) {
    case Phase::kScan: return ScanPage(look);
    case Phase::kJudge: return JudgeSome(look);
    case Phase::kWrite: return WriteBatch(look);
  }
  return false;
}

bool UpstreamWaits::ScanPage(const Look& look) {
  auto page = ports_.store.ScanAwaiting(look.segments, look.cluster_now, after_, kPageRows);
  if (!scan_.Succeeded(page)) return Fail();  // the next look goes on here
  NoteSeen(look);
  counted_ += static_cast<int64_t>(page->runs.size());
  for (AwaitingRun& run : page->runs) {
    if (!scan_.IsAside(IdOfWait(run.row.key))) runs_.push_back(std::move(run));
  }
  after_ = page->next;
  if (!after_) {
    ports_.owner.metrics.gauge("carillon_awaiting_runs")
        .Set(static_cast<double>(std::exchange(counted_, 0)));
  }
  if (after_ && runs_.size() < kRunsPerLook) return true;
  if (runs_.empty()) {
    rules_.clear();
    return false;
  }
  phase_ = Phase::kJudge;
  return LoadRules() || Fail();
}

bool UpstreamWaits::LoadRules() {
  std::map<JobVersionKey, std::optional<WaitRules>> still;
  std::vector<JobVersionKey> unknown;
  for (const AwaitingRun& run : runs_) {
    const JobVersionKey key = VersionOf(run.row);
    const auto known = rules_.find(key);
    const bool read = known != rules_.end() && known->second.has_value();
    const bool added = still.try_emplace(key, read ? known->second : std::nullopt).second;
    if (added && !read) unknown.push_back(key);
  }
  rules_ = std::move(still);
  for (size_t first = 0; first < unknown.size(); first += kBatchRowsMax) {
    const auto from = unknown.begin() + static_cast<std::ptrdiff_t>(first);
    const size_t count = std::min(kBatchRowsMax, unknown.size() - first);
    const auto records =
        ports_.firing.LoadDefinitions({from, from + static_cast<std::ptrdiff_t>(count)});
    if (!scan_.Succeeded(records)) return false;
    for (const JobVersionRecord& record : *records) {
      if (record.readable) rules_[{record.job_no, record.version}] = WaitRulesOf(record);
    }
  }
  return true;
}

bool UpstreamWaits::IsLeftOut(const WaitRules& rules) const {
  return std::ranges::any_of(
      rules.waits, [this](const UpstreamWait& wait) { return reader_.IsLeftOut(TargetOf(wait)); });
}

bool UpstreamWaits::MayExpire(const Look& look, SegmentId segment) const {
  const OwnedSegment* owned = look.view->Find(segment);
  if (owned == nullptr || ports_.owner.paused()) return false;
  const bool after_stop = last_stop_ && look.now - *last_stop_ < kNoExpiryFor;
  return !after_stop && look.now - owned->taken >= kNoExpiryFor;
}

// Each has all its targets read at once: otherwise it would perhaps never be judged.
WaitQuestions UpstreamWaits::TakeQuestions() {
  WaitQuestions questions;
  std::set<UpstreamTarget> targets;
  size_t taken = 0;
  for (; taken < runs_.size(); ++taken) {
    const auto& rules = rules_[VersionOf(runs_[taken].row)];
    if (!rules) continue;  // a version that can read it goes on
    for (const UpstreamWait& wait : rules->waits) targets.insert(TargetOf(wait));
    if (targets.size() > reader_.targets_max() && questions.size() > 0) break;
    questions.Add(runs_[taken], *rules);
  }
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(taken));
  return questions;
}

bool UpstreamWaits::JudgeSome(const Look& look) {
  WaitQuestions questions = TakeQuestions();
  const bool judged = reader_.Read(questions, look.now) && Judge(look, questions);
  if (!judged) {
    Fail();
    runs_.clear();  // the next look tries again
  }
  if (!runs_.empty()) return true;
  phase_ = Phase::kWrite;
  return !items_.empty();
}

bool UpstreamWaits::Judge(const Look& look, WaitQuestions& questions) {
  std::vector<Judged> ends;
  std::set<UpstreamTarget> asked;
  for (size_t i = 0; i < questions.size(); ++i) {
    const RunRow& row = questions.row(i);
    const WaitRules& rules = *rules_[VersionOf(row)];
    if (IsLeftOut(rules)) continue;
    WaitJudgement judgement = questions.Judge(i);
    const bool met = judgement.verdict == WaitVerdict::kMet;
    const bool over = judgement.verdict == WaitVerdict::kNotMet &&
                      judgement.limit <= look.cluster_now && MayExpire(look, row.segment);
    if (!met && !over) continue;
    for (const UpstreamWait& wait : rules.waits) asked.insert(TargetOf(wait));
    ends.push_back({.rules = &rules,
                    .item = {.key = row.key,
                             .segment = row.segment,
                             .job_no = row.job_no,
                             .def_version = row.def_version,
                             .expired = over,
                             .error = over ? std::move(judgement.sentence) : std::string()}});
  }
  if (!reader_.Confirm(asked)) return false;
  for (Judged& end : ends) {
    if (!IsLeftOut(*end.rules)) items_.push_back(std::move(end.item));
  }
  return true;
}

bool UpstreamWaits::WriteBatch(const Look& look) {
  const size_t count = std::min(kItemsPerWrite, items_.size());
  std::vector<WaitItem> batch(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count));
  items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count));
  std::erase_if(batch,
                [&](const WaitItem& item) { return look.view->Find(item.segment) == nullptr; });
  const Status written = Bisect(
      std::span<const WaitItem>(batch),
      [&](std::span<const WaitItem> some) { return EndWaits(look, some); },
      [&](const WaitItem& item, const Error& error) {
        scan_.SetAside(IdOfWait(item.key), "run " + EncodeRunId(item.key), error, look.now);
      });
  if (!written.ok()) return Fail();
  return !items_.empty();
}

Status UpstreamWaits::EndWaits(const Look& look, std::span<const WaitItem> items) {
  const std::vector<WaitItem> batch(items.begin(), items.end());
  if (batch.empty()) return {};
  std::vector<SegmentId> segments;
  for (const WaitItem& item : batch) segments.push_back(item.segment);
  const auto effects = scan_.Write(
      "end waits", "", look, std::move(segments),
      [&](const Fence& fence, WallTime cluster_now) {
        return ports_.store.EndWaits(batch, fence, cluster_now);
      },
      OwnerScan::Conflicts::kLeftToCaller);
  if (!effects.ok()) return effects.error();
  Tell(look, batch, *effects);
  return {};
}

void UpstreamWaits::Tell(const Look& look, const std::vector<WaitItem>& items,
                         const std::vector<WaitEffect>& effects) {
  std::vector<PendingRun> due;
  std::set<JobNo> ended;
  uint64_t met = 0;
  uint64_t expired = 0;
  bool completed = false;
  for (size_t i = 0; i < effects.size(); ++i) {
    const WaitEffect& effect = effects[i];
    met += effect.due || effect.blocked ? 1 : 0;
    expired += effect.failed ? 1 : 0;
    completed |= effect.completed || effect.blocked;
    if (effect.failed) ended.insert(items[i].job_no);
    const OwnedSegment* owned = look.view->Find(items[i].segment);
    if (effect.due && owned != nullptr) due.push_back(ToPendingRun(*effect.due, owned->epoch));
  }
  Metrics& metrics = ports_.owner.metrics;
  metrics.counter("carillon_upstream_waits_total", "met").Add(met);
  metrics.counter("carillon_upstream_waits_total", "expired").Add(expired);
  metrics.counter("carillon_runs_total", Name(RunState::kFailed)).Add(expired);
  if (!due.empty() && !ports_.feed.Push(std::move(due)).ok()) {
    // The sweep finds these runs.
    metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  }
  if (completed) ports_.owner.signals.completed.Raise();
  if (!ended.empty()) ports_.owner.signals.ended.Raise({ended.begin(), ended.end()});
}

}  // namespace carillon::scheduler
