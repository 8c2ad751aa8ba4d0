// Signatures of Standard Webhooks (https://www.standardwebhooks.com), which prove the sender.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

// Decodes "whsec_" and base64 of 24 to 64 bytes. kInvalid for other texts; the message does not
// contain the text.
Result<std::string> ParseWebhookSecret(std::string_view text);
// Reads one secret per line, newest first. There may be two: during a rotation both sign. Blank
// lines are skipped. kInvalid: no secret, more than two, or an invalid one.
Result<std::vector<std::string>> ParseWebhookSecrets(std::string_view text);

// The signed parts of a webhook request.
struct WebhookContent {
  std::string_view id;
  int64_t timestamp_s = 0;  // since 1970
  std::string_view body;
};
// The header webhook-signature: "v1,<base64 of HMAC-SHA256 of id.timestamp.body>" for each secret,
// separated by spaces.
std::string SignWebhook(const std::vector<std::string>& secrets, const WebhookContent& content);

}  // namespace carillon
