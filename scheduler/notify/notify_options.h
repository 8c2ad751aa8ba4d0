// Destinations and recipients of notifications: the settings notify.*. The settings are read once,
// at the start. The files with secrets are read again for each message.
#pragma once

#include <string>

#include "common/domain/notice.h"
#include "common/ports/notice_transport.h"

namespace carillon::scheduler {

struct NotifyOptions {
  std::string webhook_url = {};  // empty: no webhook
  std::string mail_server = {};  // empty: no mail
  MailTls mail_tls = MailTls::kStartTls;
  std::string mail_user = {};
  std::string mail_from = {};
  NotifyDefaults defaults = {};

  bool HasWebhook() const { return !webhook_url.empty(); }
  bool HasMail() const { return !mail_server.empty(); }
  bool enabled() const { return HasWebhook() || HasMail(); }
};

}  // namespace carillon::scheduler
