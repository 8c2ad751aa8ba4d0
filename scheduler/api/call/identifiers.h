// Generates trace ids and job ids, which are not secrets.
//
// Threads  Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "common/adapters/http/http_message.h"
#include "common/base/ids.h"
#include "common/base/mutex.h"
#include "common/base/rng.h"

namespace carillon::scheduler {

class Identifiers {
 public:
  explicit Identifiers(uint64_t seed) : rng_(seed) {}

  // Returns the trace id of the W3C header `traceparent`, or a new trace id: 32
  // lower-case hex digits.
  std::string TraceId(const HttpRequest& request);
  // Returns the letters and digits of `name`, joined by '-', and six random characters:
  // "nightly-backup-3f9k2c".
  JobId NewJobId(std::string_view name);
  // The same with a suffix that is derived from `key`, so that a repeated request gets the same id.
  static JobId JobIdForKey(std::string_view name, std::string_view key);

 private:
  uint64_t Next();

  Mutex mu_;
  Rng rng_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
