// Answers /livez and /readyz, identically on every port of a process.
//
// Threads  Thread-safe. A check that may block runs on a loop of its own: no request waits for it.
// Always   After Stop() only checks that do not block are called.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/adapters/http/http_message.h"
#include "common/base/clock.h"
#include "common/ops/ready_probe.h"

namespace carillon::ops {

class Health {
 public:
  // /readyz answers 200 while all of `checks` pass. The constructor waits until each check has
  // answered once or has timed out. `clock` must outlive this object.
  Health(std::vector<ReadyCheck> checks, const Clock& clock);
  ~Health();

  // The answer to /livez and /readyz[?verbose], and to a wrong method on these paths; nullopt for
  // other paths.
  std::optional<HttpResponse> Answer(const HttpRequest& request) const;
  // Returns 200 or 503. With `verbose` in the query, the body has a line for each check.
  HttpResponse Readiness(const HttpRequest& request) const;
  void Stop();

 private:
  struct Probed;
  struct Check {
    ReadyCheck check;
    std::unique_ptr<Probed> aside;  // null: the check does not block
  };

  const Clock& clock_;
  std::vector<Check> checks_;
};

// Plain text that must not be cached.
HttpResponse PlainText(int status, std::string body);
// Returns the 405 response to any method but GET and HEAD.
HttpResponse OnlyReads();

}  // namespace carillon::ops
