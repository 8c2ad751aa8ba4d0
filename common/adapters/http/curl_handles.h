// The parts that all users of libcurl share: owned handles, time limits, and how to stop early.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <memory>

#include "common/base/time.h"

namespace carillon {

struct CurlDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, CurlDeleter>;
using CurlList = std::unique_ptr<curl_slist, CurlDeleter>;

// A time limit as libcurl's options take it.
inline long CurlMilliseconds(Duration duration) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

// Aborts the transfer soon after `*stopped` becomes true. `stopped` must outlive the transfer. If
// `stopped` is null, only the timeouts end the transfer.
void SetStop(CURL* handle, const std::atomic<bool>* stopped);

}  // namespace carillon
