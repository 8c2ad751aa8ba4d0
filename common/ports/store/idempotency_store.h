// Idempotency keys: the answer of a request, kept so that a repeated request gets the same one.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

struct StoredAnswer {
  int status = 200;
  std::string body;
  std::string location;  // headers that a replay repeats
  std::string etag;
};

enum class RequestState {
  kNew,       // the caller goes on and calls FinishRequest or AbandonRequest
  kReplay,    // answer holds the first one
  kInFlight,  // the first request has not finished (or its member died within the last minute)
  kMismatch,  // the same key with another body
};
struct RequestLookup {
  RequestState state = RequestState::kNew;
  StoredAnswer answer = {};
};

// An Idempotency-Key (BeginRequest) whose answer is kept in the transaction of the write itself:
// there is nothing written without it, so a repetition never does it twice.
template <typename Written>
struct KeyedAnswer {
  std::string scope;
  std::string key;
  std::function<StoredAnswer(const Written&)> answer;  // pure
};

class IdempotencyStore {
 public:
  virtual ~IdempotencyStore() = default;

  // Idempotency-Key, kept 24 h. `scope` = caller and route; `fingerprint` = hash of the body.
  virtual Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                             const std::string& fingerprint, WallTime now) = 0;
  virtual Status FinishRequest(const std::string& scope, const std::string& key,
                               const StoredAnswer& answer) = 0;
  // Nothing was done. A request that was finished meanwhile stays.
  virtual Status AbandonRequest(const std::string& scope, const std::string& key) = 0;
};

}  // namespace carillon
