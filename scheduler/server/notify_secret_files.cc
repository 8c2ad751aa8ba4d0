#include "scheduler/server/notify_secret_files.h"

#include "common/process/process.h"

namespace carillon::scheduler {

Result<std::string> NotifySecretFiles::WebhookSecrets() const {
  return process::ReadSecretLines(webhook_file_, "notify.webhook_secret_file", 2);
}

Result<std::string> NotifySecretFiles::MailPassword() const {
  return process::ReadSecretFile(mail_file_, "notify.mail_password_file");
}

}  // namespace carillon::scheduler
