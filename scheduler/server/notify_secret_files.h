// Reads the secrets of notifications from the files that the settings name.
#pragma once

#include <string>

#include "common/config/load.h"
#include "scheduler/notify/notify_secrets.h"

namespace carillon::scheduler {

class NotifySecretFiles final : public NotifySecrets {
 public:
  explicit NotifySecretFiles(const config::Config& config)
      : webhook_file_(config.Text("notify.webhook_secret_file")),
        mail_file_(config.Text("notify.mail_password_file")) {}

  Result<std::string> WebhookSecrets() const override;
  Result<std::string> MailPassword() const override;

 private:
  const std::string webhook_file_;
  const std::string mail_file_;
};

}  // namespace carillon::scheduler
