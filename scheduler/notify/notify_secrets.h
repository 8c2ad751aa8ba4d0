// The secrets of the channels of notifications.
//
// Threads  Thread-safe; both calls may block on a file.
// Errors   kUnavailable or kInvalid if the secret cannot be read; the message names the setting.
// Always   Each call reads the secret again, so that a changed secret applies to the next message.
#pragma once

#include <string>

#include "common/base/result.h"

namespace carillon::scheduler {

class NotifySecrets {
 public:
  virtual ~NotifySecrets() = default;
  // The secrets that sign webhooks, one per line. The current secret is first. While it is being
  // replaced, the previous secret follows.
  virtual Result<std::string> WebhookSecrets() const = 0;
  virtual Result<std::string> MailPassword() const = 0;
};

}  // namespace carillon::scheduler
