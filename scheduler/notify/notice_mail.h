// A notice as a mail: RFC 5322 with a plain text in UTF-8. Pure.
//
// Always   No text of a job can add a header or a recipient: what goes into a header is encoded
//          (RFC 2047) unless it is printable ASCII, and the body is base64.
#pragma once

#include <string>
#include <vector>

#include "common/ports/notice_store.h"

namespace carillon::scheduler {

struct MailEnvelope {
  std::string from;
  std::vector<std::string> to;
  std::string id;  // of the notice: the Message-ID is <id@host of from>
  WallTime date;
};

// "failed: nightly report" and so on, in UTF-8.
std::string SubjectOf(const OpenNotice& notice);
// A line for each fact; `link` is left out when it is empty.
std::string TextOf(const OpenNotice& notice, const std::string& link);

std::string ComposeMail(const MailEnvelope& envelope, const std::string& subject,
                        const std::string& text);

// As RFC 5322 has it: "Sun, 01 Mar 2026 00:00:00 +0000".
std::string MailDate(WallTime time);
// `text` as it may stand in a header.
std::string EncodeHeader(const std::string& text);

}  // namespace carillon::scheduler
