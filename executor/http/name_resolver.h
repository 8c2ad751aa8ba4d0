// Looks up the addresses of host names for http jobs, on threads that nobody waits for.
//
// The system's resolver cannot be interrupted: a name server that does not answer holds its caller
// for up to a minute. libcurl's own threads are joined when a transfer is closed, which would stop
// every other request, its timeout and the end of its lease.
//
// Threads  Thread-safe. Each lookup blocks a detached thread, at most kLookupsMax in all and
//          kJobLookupsMax for the names that one job asked for. The more a job has, the more must
//          be left for others, so that neither one job nor a few dozen can use up all of them.
// Always   A name is looked up once at a time; everyone who asks meanwhile gets that answer.
//          Answers are kept for 60 s, failures are not kept.
// Errors   kNotFound: the name has no address, or cannot be looked up; the message says why.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace carillon::executor {

// The system's resolver.
class HostLookup {
 public:
  virtual ~HostLookup() = default;
  // Returns addresses as text, in the order in which they are to be tried. Blocks for as long as
  // the name servers need. Called by several threads.
  virtual Result<std::vector<std::string>> AddressesOf(const std::string& host) const = 0;
};

// getaddrinfo.
std::shared_ptr<const HostLookup> SystemHostLookup();

class NameResolver {
 public:
  static constexpr size_t kLookupsMax = 256;
  static constexpr size_t kJobLookupsMax = 8;
  static constexpr size_t kKeptMax = 1'024;  // names
  static constexpr Duration kKeptFor = 60s;

  struct Answer {
    std::string host;
    Result<std::vector<std::string>> addresses;
  };

  // Calls `wake` on some thread, under a lock, when there are answers; never after its destructor.
  // `lookup` is shared, because lookups in progress outlive this object.
  NameResolver(std::shared_ptr<const HostLookup> lookup, const Clock& clock,
               std::function<void()> wake);
  ~NameResolver();

  // Asks for the addresses of `host` on behalf of a job. The answer follows by Take, unless `until`
  // passes before the lookup begins.
  void Ask(const std::string& host, const JobId& job, SteadyTime until);
  std::vector<Answer> Take();

 private:
  struct State;
  static void Work(const std::shared_ptr<State>& state);

  // Shared with the detached threads: it is unknown whether they or this object end last.
  const std::shared_ptr<State> state_;
  const Clock& clock_;
};

}  // namespace carillon::executor
