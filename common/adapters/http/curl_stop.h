// Aborts a libcurl transfer before its timeout.
#pragma once

#include <curl/curl.h>

#include <atomic>

namespace carillon {

// If `stopped` is null, only its timeouts end the transfer; else it must outlive the transfer.
void SetStop(CURL* handle, const std::atomic<bool>* stopped);

}  // namespace carillon
