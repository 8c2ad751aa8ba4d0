#include "executor/server/program_probe.h"

#include <algorithm>

#include "common/base/log.h"
#include "executor/server/host_checks.h"

namespace carillon::executor {
namespace {

void ReplaceLine(HostCheck line, std::vector<HostCheck>& checks) {
  const auto known = std::ranges::find(checks, line.name, &HostCheck::name);
  if (known != checks.end()) *known = std::move(line);
}

}  // namespace

SteadyTime ProgramProbe::Step(SteadyTime now) {
  // The executor's start has looked already.
  const bool first = next_ == SteadyTime{};
  if (!first && now < next_) return next_;
  next_ = now + kEvery;
  if (first) return next_;
  const auto known = ports_.board.Current();
  HostPrograms found = *known;
  found.interpreters = FindInterpreters(options_.path);
  for (const Interpreter interpreter : AllInterpreters()) {
    ReplaceLine(CheckInterpreter(found.interpreters, options_.path, interpreter), found.checks);
  }
  EngineFound engine = ports_.find(options_.engine, options_.path);
  if (engine.asked) {
    found.engine_answers = !engine.path.empty();
    if (found.engine_answers) found.container_engine = engine.path;
    ReplaceLine(std::move(engine.check), found.checks);
  }
  if (found == *known) return next_;
  if (found.engine_answers != known->engine_answers) {
    log::Info("executor", "the container engine {}",
              found.engine_answers ? "answers" : "does not answer any more");
  }
  if (found.container_engine != known->container_engine) {
    ports_.use_engine(found.container_engine);
  }
  ports_.board.Set(std::move(found));
  return next_;
}

}  // namespace carillon::executor
