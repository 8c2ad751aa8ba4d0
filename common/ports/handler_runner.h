// Port from the executor's daemon to the workers of its host: programs that offer handlers. Only a
// handler's own code can end it, so an attempt is over when its function has returned or its
// process is dead. In the simulator the workers are in memory and, like the real ones, survive a
// crash of the daemon.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/ports/attempt_host.h"

namespace carillon {

// One function to call.
struct StartHandler {
  HeldAttempt attempt;
  JobId job_id = {};
  std::string handler;                 // "app/name"
  std::string parameters_json = "{}";  // an object of texts, numbers and booleans
  std::map<std::string, std::string> env = {};
  uint32_t shard_total = 1;
  std::string trace_id = {};
  Duration timeout = 3600s;
  SteadyTime lease_end;                        // CLOCK_BOOTTIME
  std::vector<std::string> masked = {};        // values that the log must not show
  std::optional<std::string> checkpoint = {};  // the last one of the earlier attempts
};

using HandlerOffers = std::map<std::string, int>;  // attempts at once, by "app/name"

class HandlerRunner : public AttemptHost {
 public:
  // What the workers that are connected offer. Another pointer after each change.
  virtual std::shared_ptr<const HandlerOffers> Offers() = 0;
  // Records the start on disk, then calls the function in the least busy worker. It has ended once
  // the function has returned or its process is dead.
  virtual void Start(StartHandler start) = 0;
  // Asks the function to stop, in both modes. It may ignore that, and the attempt goes on.
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override = 0;
};

// A host without workers.
class NoHandlers final : public HandlerRunner {
 public:
  std::shared_ptr<const HandlerOffers> Offers() override { return offers_; }
  void Start(StartHandler) override {}
  Status RenewLeases(const std::vector<HeldAttempt>&, SteadyTime) override { return {}; }
  Status Cancel(const HeldAttempt&, CancelMode) override { return {}; }
  std::vector<AttemptEvent> Receive(size_t) override { return {}; }
  void OnReadable(std::function<void()>) override {}

 private:
  const std::shared_ptr<const HandlerOffers> offers_ = std::make_shared<HandlerOffers>();
};

}  // namespace carillon
