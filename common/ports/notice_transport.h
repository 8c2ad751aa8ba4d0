// Port that sends a finished message: one POST, or one mail.
//
// Threads  Thread-safe; each call blocks for at most kNoticeTimeMax.
// Errors   kInvalid: the address or a setting. Else the message did not get an answer, or not a
//          whole one: whether it was taken is not known.
// Always   TLS servers are checked; no redirect is followed and no proxy used.
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
  std::string user = {};  // empty: does not sign in
  std::string password = {};
  std::string from;
  std::vector<std::string> to;
  std::string message;  // RFC 5322, lines end in CRLF
};

class NoticeTransport {
 public:
  virtual ~NoticeTransport() = default;
  // The status of the answer, whichever.
  virtual Result<int> Post(const NoticePost& post) = 0;
  // The last answer of the server: 250 when it took the message.
  virtual Result<int> Mail(const NoticeMail& mail) = 0;
};

}  // namespace carillon
