// Formats a notice as a mail: RFC 5322 with plain text in UTF-8. Pure.
//
// Always   No text of a job can add a header or a recipient. Header values are encoded (RFC 2047)
//          unless they are printable ASCII, and the body is base64.
#pragma once

#include <string>
#include <vector>

#include "common/ports/store/notice_store.h"

namespace carillon::scheduler {

struct MailEnvelope {
  std::string from;
  std::vector<std::string> to;
  std::string id;  // of the notice; the Message-ID is <id@host of `from`>
  WallTime date;
};

// The subject in UTF-8, such as "[Carillon] Failed: nightly report".
std::string SubjectOf(const OpenNotice& notice);
// The body, with one line per fact. If `link` is empty, the body has no link.
std::string TextOf(const OpenNotice& notice, const std::string& link);

std::string ComposeMail(const MailEnvelope& envelope, const std::string& subject,
                        const std::string& text);

// A date in the form of RFC 5322: "Sun, 01 Mar 2026 00:00:00 +0000".
std::string MailDate(WallTime time);
// `text` encoded for use in a header.
std::string EncodeHeader(const std::string& text);

}  // namespace carillon::scheduler
