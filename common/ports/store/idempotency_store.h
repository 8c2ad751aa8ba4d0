// Idempotency keys. The response to a request is kept, so that a repeated request gets the
// same one.
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
  kNew,       // execute it, then call FinishRequest or AbandonRequest
  kReplay,    // `answer` is the response to the first request
  kInFlight,  // the first request has not finished (or its member died within the last minute)
  kMismatch,  // the same key with another body
};
struct RequestLookup {
  RequestState state = RequestState::kNew;
  StoredAnswer answer = {};
};

// An Idempotency-Key (BeginRequest) whose answer is stored in the same transaction as the write. So
// nothing is written without its answer, and a repeated request never writes twice.
template <typename Written>
struct KeyedAnswer {
  std::string scope;
  std::string key;
  std::function<StoredAnswer(const Written&)> answer;  // pure
};

class IdempotencyStore {
 public:
  virtual ~IdempotencyStore() = default;

  // Looks up an Idempotency-Key, and begins it if it is new. Keys are kept for 24 h. `scope` =
  // caller and route; `fingerprint` = hash of body and query.
  virtual Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                             const std::string& fingerprint, WallTime now) = 0;
  virtual Status FinishRequest(const std::string& scope, const std::string& key,
                               const StoredAnswer& answer) = 0;
  // Forgets the key of a request that has written nothing. A key that is finished is kept.
  virtual Status AbandonRequest(const std::string& scope, const std::string& key) = 0;
};

}  // namespace carillon
