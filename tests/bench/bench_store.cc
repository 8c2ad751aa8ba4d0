// Measures the lower bound of the cost of a fire: its durable, fenced writes (plan, claim, result)
// as a plain loop of full batches, on a private MariaDB, through the store's own adapter. The
// figures of the whole system are compared with it.
//
//   bench_store [--fires 200000] [--batch 1000] [--lanes 2] [--json FILE]
//
// A lane is a loop with its own jobs. Two lanes keep the server busy while one waits for the disk.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "common/base/log.h"
#include "tests/support/mariadb.h"

namespace carillon::test {
namespace {

struct BenchOptions {
  int64_t fires = 200'000;
  size_t batch = 1000;
  int lanes = 2;
  std::string json = {};
};

struct Phases {
  std::atomic<int64_t> plan_us{0};
  std::atomic<int64_t> claim_us{0};
  std::atomic<int64_t> result_us{0};
};

void Must(const Status& status) { CARILLON_CHECK(status.ok(), status.error().message); }
template <typename T>
T Must(Result<T> result) {
  CARILLON_CHECK(result.ok(), result.error().message);
  return std::move(result).value();
}

struct Lane {
  mysql::MysqlStores& stores;
  const Clock& clock;
  const Fence& fence;
  std::vector<StoredJob> jobs;
  Phases& phases;

  // One batch, from planning to results. `round` makes its fire times unique.
  void Round(size_t batch, int64_t round, uint64_t lane) {
    const WallTime now = Must(stores.segments.Now());
    PlanBatch plan;
    for (size_t i = 0; i < batch; ++i) {
      const StoredJob& job = jobs[i % jobs.size()];
      const auto nth = static_cast<int64_t>(i / jobs.size());
      plan.runs.push_back({.key = {now - 1s + Duration(nth), job.schedules[0].schedule_id, 0},
                           .job_no = job.job_no,
                           .segment = job.segment,
                           .kind = RunKind::kRate,
                           .due = now - 1s,
                           .def_version = job.version});
    }
    const SteadyTime t0 = clock.Steady();
    Must(stores.firing.Plan(plan, fence, now));
    const SteadyTime t1 = clock.Steady();
    std::vector<ClaimRequest> claims;
    for (size_t i = 0; i < batch; ++i) {
      const PlannedRun& run = plan.runs[i];
      claims.push_back({.key = run.key,
                        .segment = run.segment,
                        .job_no = run.job_no,
                        .def_version = run.def_version,
                        .token = {lane + 1, static_cast<uint64_t>(round) * batch + i + 1},
                        .executor = ExecutorId("bench"),
                        .incarnation = Incarnation("bench-1")});
    }
    for (const ClaimReply& reply : Must(stores.firing.Claim(claims, fence, now))) {
      CARILLON_CHECK(reply.verdict == ClaimVerdict::kAccepted, Name(reply.reason));
    }
    const SteadyTime t2 = clock.Steady();
    std::vector<ResultReport> reports;
    for (const ClaimRequest& claim : claims) {
      reports.push_back({.key = claim.key,
                         .segment = claim.segment,
                         .job_no = claim.job_no,
                         .token = claim.token,
                         .executor = claim.executor,
                         .result = {.started = now, .ended = now}});
    }
    for (const RunEffect& effect : Must(stores.firing.ApplyResults(reports, fence, now))) {
      CARILLON_CHECK(effect.state == RunState::kCompleted, "result applied");
    }
    const SteadyTime t3 = clock.Steady();
    phases.plan_us += (t1 - t0).count();
    phases.claim_us += (t2 - t1).count();
    phases.result_us += (t3 - t2).count();
  }
};

// The CPU time (user and system) that a process has used so far, in seconds.
double ServerCpuSeconds(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;  // field 14 is utime
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double OwnCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<StoredJob> MakeJobs(mysql::MysqlStores& stores, int lane) {
  std::vector<StoredJob> jobs;
  JobDefinition definition;
  definition.name = "bench";
  definition.type = JobType::kNoop;
  definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h}};
  for (int i = 0; i < 200; ++i) {
    jobs.push_back(Must(stores.jobs.CreateJob(JobId(fmt::format("bench-{}-{}", lane, i)),
                                              definition, {.now = Must(stores.segments.Now())})));
  }
  return jobs;
}

int Run(const BenchOptions& options) {
  log::Configure({.level = log::Level::kWarn});
  MariadbServer server(true);
  MariadbDatabase database(server);
  const std::unique_ptr<mysql::MysqlStores> stores = database.Open(64);
  std::vector<SegmentId> segments;
  for (uint32_t i = 0; i < 64; ++i) segments.push_back(SegmentId(i));
  const Fence fence = Must(stores->segments.Take(
                               {MemberId("bench"), Incarnation("bench"), Generation(1), segments}))
                          .fence;
  Phases phases;
  std::vector<Lane> lanes;
  for (int i = 0; i < options.lanes; ++i) {
    lanes.push_back({*stores, server.clock(), fence, MakeJobs(*stores, i), phases});
  }
  const int64_t rounds =
      options.fires / static_cast<int64_t>(options.batch) / std::max(1, options.lanes);
  const double server_cpu = ServerCpuSeconds(server.server().pid());
  const double own_cpu = OwnCpuSeconds();
  const SteadyTime begin = server.clock().Steady();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < lanes.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int64_t round = 0; round < rounds; ++round) lanes[i].Round(options.batch, round, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = static_cast<double>((server.clock().Steady() - begin).count()) / 1e6;
  const auto fires =
      static_cast<double>(rounds * options.lanes) * static_cast<double>(options.batch);
  const std::string line = fmt::format(
      R"({{"fires": {:.0f}, "batch": {}, "lanes": {}, "seconds": {:.3f}, )"
      R"("fires_per_second": {:.0f}, )"
      R"("us_per_fire": {{"plan": {:.1f}, "claim": {:.1f}, "result": {:.1f}}}, )"
      R"("cpu_us_per_fire": {{"server": {:.1f}, "client": {:.1f}}}}})",
      fires, options.batch, options.lanes, seconds, fires / seconds,
      static_cast<double>(phases.plan_us) / fires, static_cast<double>(phases.claim_us) / fires,
      static_cast<double>(phases.result_us) / fires,
      (ServerCpuSeconds(server.server().pid()) - server_cpu) * 1e6 / fires,
      (OwnCpuSeconds() - own_cpu) * 1e6 / fires);
  std::puts(line.c_str());
  if (!options.json.empty()) std::ofstream(options.json) << line << "\n";
  return 0;
}

}  // namespace
}  // namespace carillon::test

int main(int argc, char** argv) {
  carillon::test::BenchOptions options;
  CLI::App app("The store's floor: plan, claim and result batches as a plain loop.");
  app.add_option("--fires", options.fires, "fires to write")->check(CLI::PositiveNumber);
  app.add_option("--batch", options.batch, "rows in a batch")->check(CLI::Range(1, 1000));
  app.add_option("--lanes", options.lanes, "loops side by side")->check(CLI::Range(1, 8));
  app.add_option("--json", options.json, "also write the result to this file");
  CLI11_PARSE(app, argc, argv);
  return carillon::test::Run(options);
}
