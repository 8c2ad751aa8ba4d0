// The hosts of the attempts of this daemon, by the runner of their job type.
#pragma once

#include <map>

#include "common/domain/job/job_types.h"
#include "common/ports/executor_host.h"
#include "common/ports/handler_runner.h"
#include "common/ports/http_runner.h"
#include "executor/report/result_sender.h"

namespace carillon::executor {

struct AttemptHostRow {
  AttemptHost& host;
  ResultHome home;  // of the ends that it reports
};

// A runner without a row (kNoop) has no host: its attempts end as soon as they begin.
using AttemptHosts = std::map<Runner, AttemptHostRow>;

inline AttemptHosts HostsOf(Warden& warden, HttpRunner& http, HandlerRunner& handlers) {
  return {{Runner::kWarden, {warden, ResultHome::kWarden}},
          {Runner::kHttp, {http, ResultHome::kMemory}},
          {Runner::kWorker, {handlers, ResultHome::kMemory}}};
}

}  // namespace carillon::executor
