#include "tests/sim/backfiller.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace carillon::sim {
namespace {

constexpr double kWorlds = 0.5;
constexpr double kStarts = 0.12;  // chance per second
constexpr double kStartsOften = 0.5;
constexpr double kControls = 0.1;  // the same, of each open backfill

bool Repeats(const ScheduleSpec& spec) {
  return spec.kind == ScheduleKind::kCron || spec.kind == ScheduleKind::kRate;
}

std::vector<Backfill> AllBackfills(BackfillStore& store) {
  return store.ListBackfills({.limit = SIZE_MAX}).value_or({});
}

void CheckCompleted(const FinalPorts& ports, const Backfill& backfill,
                    const std::set<WallTime>& run, const std::vector<GapRange>& gaps) {
  const auto found = ports.history.lives().find(backfill.terms.schedule_id);
  if (found == ports.history.lives().end()) return;  // its creation was never acknowledged
  // A step obeys the calendars of its time, which the history does not know.
  if (!found->second.spec.calendar.empty() || !found->second.spec.blackout.empty()) return;
  const std::string name = fmt::format("backfill {}", backfill.number);
  const BackfillCounts& counts = backfill.counts;
  const int64_t looked_at = counts.created + counts.rerun + counts.existing + counts.refused;
  if (looked_at != backfill.fires || DoneOf(counts) != backfill.fires) {
    ports.checker.Fail("backfill", fmt::format("{} has {} fires, looked at {}, done {}", name,
                                               backfill.fires, looked_at, DoneOf(counts)));
  }
  const WallTime begin = found->second.from;
  ScheduleLife always = found->second;
  always.from = WallTime{};
  always.until = kNever;
  for (const WallTime fire : History::Fires(always, backfill.terms.from, backfill.terms.to - 1us)) {
    if (run.contains(fire)) continue;
    const bool missed = std::any_of(gaps.begin(), gaps.end(), [fire](const GapRange& gap) {
      return gap.from <= fire && fire <= gap.to;
    });
    if (fire > begin && missed) continue;
    ports.checker.Fail("backfill",
                       fmt::format("{}: fire {} has no run", name, FormatRfc3339(fire)));
  }
}

}  // namespace

Backfiller::Backfiller(Ports ports, Options options)
    : p_(std::move(ports)),
      options_(options),
      rng_(options.seed * 0x9e3779b97f4a7c15ull + 0xbacf),
      acts_(rng_.Chance(kWorlds) || options.of_lost_nodes) {}

void Backfiller::Act() {
  if (rng_.Chance(options_.of_lost_nodes ? kStartsOften : kStarts)) Start();
  for (const Backfill& backfill : AllBackfills(p_.stores.backfills)) {
    if (IsOpen(backfill.state) && rng_.Chance(kControls)) Control(backfill);
  }
}

void Backfiller::Start() {
  auto jobs = p_.stores.jobs.ListJobs({.limit = 1000}).value_or({}).jobs;
  if (options_.of_lost_nodes) {
    std::erase_if(jobs,
                  [](const StoredJob& job) { return job.definition.type != JobType::kWorkflow; });
  }
  if (jobs.empty()) return;
  const StoredJob& job = jobs[rng_.Below(jobs.size())];
  std::vector<StoredSchedule> schedules;
  for (const StoredSchedule& schedule : job.schedules) {
    if (Repeats(schedule.spec)) schedules.push_back(schedule);
  }
  if (schedules.empty()) return;
  const WallTime now = p_.now();
  const Duration ago = 1s * (5 + rng_.Below(90));
  BackfillTerms terms{.job_id = job.job_id,
                      .schedule_id = schedules[rng_.Below(schedules.size())].schedule_id,
                      .from = now - ago,
                      .to = now};  // if the planner is behind, the last fires are its own
  if (rng_.Chance(0.4)) terms.order = BackfillOrder::kDescending;
  static constexpr BackfillRerun kReruns[] = {BackfillRerun::kNone, BackfillRerun::kFailed,
                                              BackfillRerun::kAll};
  terms.rerun = options_.of_lost_nodes ? BackfillRerun::kFailed : kReruns[rng_.Below(3)];
  // Other parameters each time, so that a run that is run again must be given its own.
  terms.parameters_json = fmt::format("{{\"round\":\"{}\"}}", ++rounds_);
  terms.concurrency = 1 + static_cast<int64_t>(rng_.Below(5));
  const auto made = p_.stores.backfills.CreateBackfill(terms, {}, {.now = now});
  if (!made.ok()) return;
  p_.checker.BackfillAcknowledged(made->job_no, Checker::Backfilling::kAllowed);
  p_.nudge({made->job_no, made->segment});
}

void Backfiller::Control(const Backfill& backfill) {
  const WriteContext context{.now = p_.now()};
  const uint64_t deed = rng_.Below(10);
  const bool paused = backfill.state == BackfillState::kPaused;
  const auto changed = deed == 0 ? p_.stores.backfills.CancelBackfill(backfill.number, context)
                       : paused  ? p_.stores.backfills.ResumeBackfill(backfill.number, context)
                                 : p_.stores.backfills.PauseBackfill(backfill.number, context);
  if (!changed.ok()) return;
  p_.checker.BackfillAcknowledged(changed->job_no, changed->state == BackfillState::kRunning
                                                       ? Checker::Backfilling::kAllowed
                                                       : Checker::Backfilling::kEnded);
  p_.nudge({changed->job_no, changed->segment});
}

void Backfiller::Calm() {
  for (const Backfill& backfill : AllBackfills(p_.stores.backfills)) {
    if (backfill.state != BackfillState::kPaused) continue;
    p_.checker.BackfillAcknowledged(backfill.job_no, Checker::Backfilling::kAllowed);
    static_cast<void>(p_.stores.backfills.ResumeBackfill(backfill.number, {.now = p_.now()}).ok());
  }
}

std::optional<Backfill> BackfillToEnd(BackfillStore& store, const Checker& checker) {
  for (const Backfill& backfill : AllBackfills(store)) {
    const bool waits = std::any_of(backfill.runs.begin(), backfill.runs.end(), [&](RunKey key) {
      const auto found = checker.rows().find(key);
      return found != checker.rows().end() && !IsFinal(found->second.state);
    });
    if (!waits && !HasEnded(backfill)) return backfill;
  }
  return std::nullopt;
}

void CheckBackfills(const FinalPorts& ports) {
  if (const auto open = BackfillToEnd(ports.stores.backfills, ports.checker)) {
    ports.checker.Fail("backfill", fmt::format("backfill {} is {} and has not ended", open->number,
                                               Name(open->state)));
  }
  std::map<JobNo, std::set<WallTime>> run;
  for (const auto& [key, row] : ports.checker.rows()) {
    // The fire of a node is its workflow's.
    if (row.kind != RunKind::kWorkflow) run[row.job_no].insert(key.fire);
  }
  std::map<ScheduleId, std::vector<GapRange>> gaps;
  const auto page = ports.stores.runs.ListGaps({.limit = 1'000'000});
  for (const GapRecord& gap : page->gaps) gaps[gap.schedule_id].push_back(gap.range);
  for (const Backfill& backfill : AllBackfills(ports.stores.backfills)) {
    if (backfill.state != BackfillState::kCompleted) continue;
    CheckCompleted(ports, backfill, run[backfill.job_no], gaps[backfill.terms.schedule_id]);
  }
}

}  // namespace carillon::sim
