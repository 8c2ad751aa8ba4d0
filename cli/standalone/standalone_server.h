// Everything of a standalone server, built over its adapters and running on threads.
//
// Place    The composition root of `carillon standalone`; the picture is in docs/architecture.md.
// Threads  Start, Supervise, Drain and Stop are called by one thread, with signals blocked.
// Errors   Start: as the first part that failed; what was started is stopped again. kUnavailable
//          when `interrupted` said so.
// Always   Nothing fires and nothing runs before every port is bound.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/config/load.h"

namespace carillon::cli {

class StandaloneServer {
 public:
  // Returns when the server is ready and runtime.json is written, or `interrupted` returns true;
  // that is asked a hundred times a second while something is waited for.
  static Result<std::unique_ptr<StandaloneServer>> Start(const config::Config& config,
                                                         std::function<bool()> interrupted);
  ~StandaloneServer();

  // Republishes runtime.json when a part was started again. Cheap; called several times a second.
  void Supervise();
  // No new claims, and not ready any more; the API goes on, so that people see what is waited for.
  void BeginDrain();
  // True once nothing runs and every result is in the store.
  bool drained() const;
  // Ends the parts in order. Processes that still run are left to the warden and their leases.
  void Stop();

  const std::string& url() const;
  const std::string& token_file() const;

 private:
  struct Parts;
  explicit StandaloneServer(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::cli
