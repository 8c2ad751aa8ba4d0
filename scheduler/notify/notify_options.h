// Destinations and recipients of notifications: the settings notify.*. They are read once at the
// start, except the files with secrets, which are read each time.
#pragma once

#include <functional>
#include <string>

#include "common/domain/notice.h"
#include "common/ports/notice_transport.h"

namespace carillon::scheduler {

struct NotifyOptions {
  std::string webhook_url = {};  // empty: no webhook
  // Reads the file with the webhook's secrets.
  std::function<Result<std::string>()> webhook_secrets = {};
  std::string mail_server = {};  // empty: no mail
  MailTls mail_tls = MailTls::kStartTls;
  std::string mail_user = {};
  std::function<Result<std::string>()> mail_password = {};
  std::string mail_from = {};
  NotifyDefaults defaults = {};

  bool HasWebhook() const { return !webhook_url.empty(); }
  bool HasMail() const { return !mail_server.empty(); }
  bool enabled() const { return HasWebhook() || HasMail(); }
};

}  // namespace carillon::scheduler
