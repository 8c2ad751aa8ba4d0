// Aborts a libcurl transfer before its timeout.
#pragma once

#include <curl/curl.h>

#include <atomic>

namespace carillon {

// Aborts the transfer soon after `*stopped` becomes true. `stopped` must outlive the transfer. If
// `stopped` is null, only the timeouts end the transfer.
void SetStop(CURL* handle, const std::atomic<bool>* stopped);

}  // namespace carillon
