// Standard Webhooks (https://www.standardwebhooks.com):
// what proves to a receiver whose words they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

// "whsec_" and base64 of 24 to 64 bytes: the bytes. kInvalid; the message does not tell the secret.
Result<std::string> ParseWebhookSecret(std::string_view text);
// One secret a line, the newest first, at most two: while they are rotated both sign. Blank lines
// are skipped. kInvalid: none, too many, or one that is none.
Result<std::vector<std::string>> ParseWebhookSecrets(std::string_view text);

struct WebhookContent {
  std::string_view id;
  int64_t timestamp_s = 0;  // since 1970
  std::string_view body;
};
// The header webhook-signature: "v1,<base64 of HMAC-SHA256 of id.timestamp.body>" by each secret,
// with a space between.
std::string SignWebhook(const std::vector<std::string>& secrets, const WebhookContent& content);

}  // namespace carillon
