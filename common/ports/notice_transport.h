// Port that sends a finished message: one POST, or one mail.
//
// Threads  Thread-safe; each call blocks for at most kNoticeTimeMax.
// Errors   kInvalid: the address or a setting. Any other error: no complete answer arrived, so it
//          is unknown whether the message was accepted.
// Always   TLS certificates are verified; no redirect is followed and no proxy used.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

inline constexpr Duration kNoticeTimeMax = 10s;

struct NoticePost {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

enum class MailTls { kOff, kStartTls, kTls };

struct NoticeMail {
  std::string server;  // host:port
  MailTls tls = MailTls::kStartTls;
  std::string user = {};  // empty: no sign-in
  std::string password = {};
  std::string from;
  std::vector<std::string> to;
  std::string message;  // RFC 5322, lines end in CRLF
};

class NoticeTransport {
 public:
  virtual ~NoticeTransport() = default;
  // Returns the HTTP status, even if it reports an error.
  virtual Result<int> Post(const NoticePost& post) = 0;
  // Returns the last SMTP status: 250 if the message was accepted.
  virtual Result<int> Mail(const NoticeMail& mail) = 0;
};

}  // namespace carillon
