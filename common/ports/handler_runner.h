// Port from the executor's daemon to the workers of its host: programs that offer handlers. Only a
// handler's own code can end it, so an attempt is over when its function has returned or its
// process is dead. In the simulator the workers are in memory and, like the real ones, survive a
// crash of the daemon.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/ports/executor_host.h"

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

// A function that an earlier daemon started and that may still run.
struct HandlerAdopted {
  HeldAttempt attempt;
  std::string handler;
};

// Progress or a checkpoint of a function; comes before the end of its attempt.
struct HandlerSave {
  HeldAttempt attempt;
  std::optional<std::string> progress = {};    // progress_text.h
  std::optional<std::string> checkpoint = {};  // at most kCheckpointBytesMax
};

// `silent`: the function may still run, but nobody speaks for it: its worker does not come back,
// though its process lives. The lease of the attempt should be left to end, so that it is decided
// as that of a host that is away.
struct HandlerSilent {
  HeldAttempt attempt;
  bool silent = true;
};

using HandlerEvent =
    std::variant<HandlerAdopted, HandlerSilent, HandlerSave, AttemptOutput, AttemptEnded>;
using HandlerOffers = std::map<std::string, int>;  // attempts at once, by "app/name"

class HandlerRunner {
 public:
  virtual ~HandlerRunner() = default;
  // What the workers that are connected offer. Another pointer after each change.
  virtual std::shared_ptr<const HandlerOffers> Offers() = 0;
  // Records the start on disk, then calls the function in the least busy worker. Every start ends
  // with one AttemptEnded, or several equal ones; the function has returned by then, or its process
  // is dead.
  virtual void Start(StartHandler start) = 0;
  // Extends leases; never shortens them. Unknown attempts are ignored.
  virtual void RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) = 0;
  // Asks the function to stop. It may ignore that, and the attempt goes on.
  virtual void Cancel(const HeldAttempt& attempt) = 0;
  // Adds a line by Carillon to the log of an attempt that is not over. Does nothing for
  // another one.
  virtual void Note(const HeldAttempt& attempt, const std::string& text) = 0;
  // The results of these attempts are in the database: their workers may forget them.
  virtual void Forget(const std::vector<HeldAttempt>& attempts) = 0;
  virtual std::vector<HandlerEvent> Receive(size_t max) = 0;
  virtual void OnReadable(std::function<void()> wake) = 0;
};

// A host without workers.
class NoHandlers final : public HandlerRunner {
 public:
  std::shared_ptr<const HandlerOffers> Offers() override { return offers_; }
  void Start(StartHandler) override {}
  void RenewLeases(const std::vector<HeldAttempt>&, SteadyTime) override {}
  void Cancel(const HeldAttempt&) override {}
  void Note(const HeldAttempt&, const std::string&) override {}
  void Forget(const std::vector<HeldAttempt>&) override {}
  std::vector<HandlerEvent> Receive(size_t) override { return {}; }
  void OnReadable(std::function<void()>) override {}

 private:
  const std::shared_ptr<const HandlerOffers> offers_ = std::make_shared<HandlerOffers>();
};

}  // namespace carillon
