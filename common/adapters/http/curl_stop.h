// Aborts a libcurl transfer before its timeout.
#pragma once

#include <curl/curl.h>

#include <atomic>

namespace carillon {

// Null: nothing ends it but its limits. `stopped` outlives the transfer.
void SetStop(CURL* handle, const std::atomic<bool>* stopped);

}  // namespace carillon
