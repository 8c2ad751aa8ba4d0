#include "tests/histories/explorer.h"

#include <numeric>

namespace carillon::test {

Explorer::Explorer(const Stores& stores, uint64_t seed)
    : s_(stores), rng_(seed * 0x9e3779b97f4a7c15ull + 0xe7) {}

const std::vector<Explorer::Deed>& Explorer::Deeds() {
  static const std::vector<Deed> deeds = {
      {12, &Explorer::Create},
      {2, &Explorer::Import},
      {8, &Explorer::Edit},
      {6, &Explorer::PauseOrResume},
      {2, &Explorer::Delete},
      {5, &Explorer::ReadJobs},
      {3, &Explorer::ChangeGroup},
      {2, &Explorer::ChangeCalendar},
      {16, &Explorer::Execute},
      {5, &Explorer::Cancel},
      {1, &Explorer::CancelJob},
      {8, &Explorer::Retry},
      {14, &Explorer::RetryWorkflow},
      {5, &Explorer::SkipNode},
      {6, &Explorer::DecideNode},
      {2, &Explorer::Release},
      {4, &Explorer::DeadLetters},
      {6, &Explorer::ReadRuns},
      {4, &Explorer::ReadMoreRuns},
      {4, &Explorer::StartBackfill},
      {4, &Explorer::ControlBackfill},
      {3, &Explorer::Save},
      {8, &Explorer::SendEvents},
      {3, &Explorer::ReadEvents},
      {2, &Explorer::BeginBulk},
      {6, &Explorer::WorkOnBulk},
      {2, &Explorer::ReadBulk},
      {2, &Explorer::ChangeExecutor},
      {2, &Explorer::Logs},
      {2, &Explorer::Audits},
      {2, &Explorer::Secrets},
      {3, &Explorer::Users},
      {3, &Explorer::Notices},
  };
  return deeds;
}

void Explorer::Act(WallTime now, const Nudge& nudge) {
  now_ = now;
  nudge_ = &nudge;
  const int all = std::accumulate(Deeds().begin(), Deeds().end(), 0,
                                  [](int sum, const Deed& deed) { return sum + deed.weight; });
  auto drawn = static_cast<int>(Below(static_cast<uint64_t>(all)));
  for (const Deed& deed : Deeds()) {
    drawn -= deed.weight;
    if (drawn < 0) return (this->*deed.act)();
  }
}

std::vector<StoredJob> Explorer::Jobs() {
  return s_.jobs.ListJobs({.limit = 200}).value_or({}).jobs;
}

std::optional<StoredJob> Explorer::AnyJob() {
  const std::vector<StoredJob> jobs = Jobs();
  if (jobs.empty()) return std::nullopt;
  return Pick(jobs);
}

WriteContext Explorer::Context() {
  WriteContext context{.now = now_};
  if (Chance(0.5)) context.actor = "anna";
  if (Chance(0.3)) context.reason = "because";
  context.confirm_overlap = Chance(0.5);
  if (Chance(0.4)) context.cancel_mode = CancelMode::kKill;
  context.force = Chance(0.5);
  if (Chance(0.5)) context.decider = {.user_id = "u-anna", .name = "anna"};
  return context;
}

void Explorer::Changed(const StoredJob& job) { (*nudge_)({job.job_no, job.segment}); }

}  // namespace carillon::test
