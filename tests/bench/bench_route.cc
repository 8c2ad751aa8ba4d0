// Measures how long the choice of an executor takes among many: nanoseconds a pick, by routing.
//
//   bench_route [--executors N] [--picks N] [--open SHARE]
//
// SHARE: the share of the executors that have room. One line of JSON a routing, as ./dev bench
// prints it.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "common/adapters/system/system_clock.h"
#include "common/base/stable_hash.h"
#include "scheduler/route/router.h"

namespace carillon::scheduler {
namespace {

struct Options {
  int executors = 10'000;
  int picks = 200'000;
  double open = 0.5;
};

void Fill(const Options& options, ExecutorCredits* credits) {
  Rng rng(1);
  for (int i = 0; i < options.executors; ++i) {
    credits->Update({.id = ExecutorId(fmt::format("executor-{}", i)),
                     .incarnation = Incarnation("i"),
                     .usable = true,
                     .labels = {{"zone", i % 3 == 0 ? "a" : "b"}},
                     .slots = 8,
                     .free_slots = rng.Chance(options.open) ? 8 : 0,
                     .heartbeats = 1,
                     .features = {Feature::kSecrets}});
  }
}

// A pick, and the changes of credits that come with each run.
double NanosPerPick(const Options& options, ExecutorCredits& credits, const RouteRequest& request) {
  Router router(1);
  Candidates candidates;
  static_cast<void>(router.Pick(credits, request, candidates));  // builds the candidates
  const SystemClock clock;
  const SteadyTime begin = clock.Steady();
  for (int i = 0; i < options.picks; ++i) {
    const auto at = router.Pick(credits, request, candidates);
    if (!at) continue;
    credits.Published(*at, request.slots);
    credits.Returned(*at, request.slots);
  }
  const std::chrono::duration<double, std::nano> took = clock.Steady() - begin;
  return took.count() / options.picks;
}

}  // namespace
}  // namespace carillon::scheduler

int main(int argc, char** argv) {
  using namespace carillon;
  using namespace carillon::scheduler;
  Options options;
  CLI::App app("How long the choice of an executor takes");
  app.add_option("--executors", options.executors);
  app.add_option("--picks", options.picks);
  app.add_option("--open", options.open);
  CLI11_PARSE(app, argc, argv);
  ExecutorCredits credits(100);
  Fill(options, &credits);
  const auto selector = Selector::Parse("zone = a");
  for (const Routing routing :
       {Routing::kRoundRobin, Routing::kRandom, Routing::kLeastLoaded, Routing::kFirstHealthy,
        Routing::kWeighted, Routing::kConsistentHash}) {
    for (const bool selects : {false, true}) {
      const RouteRequest request{.routing = routing,
                                 .selector = selects ? &*selector : nullptr,
                                 .needs = {Feature::kSecrets},
                                 .place = MixBits(1)};
      fmt::print(
          "{{\"routing\": \"{}\", \"selector\": {}, \"executors\": {}, \"ns_per_pick\": {:.0f}}}\n",
          Name(routing), selects, options.executors, NanosPerPick(options, credits, request));
    }
  }
  return 0;
}
