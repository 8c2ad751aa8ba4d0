// The secrets of the channels of notifications.
//
// Threads  Thread-safe; both calls may block on a file.
// Errors   kUnavailable or kInvalid if the secret cannot be read; the message names the setting.
// Always   Read anew at each call, so that a changed secret applies to the next message.
#pragma once

#include <string>

#include "common/base/result.h"

namespace carillon::scheduler {

class NotifySecrets {
 public:
  virtual ~NotifySecrets() = default;
  // The secrets that sign webhooks, one a line: the current one and, while it is being replaced,
  // the one before it.
  virtual Result<std::string> WebhookSecrets() const = 0;
  virtual Result<std::string> MailPassword() const = 0;
};

}  // namespace carillon::scheduler
