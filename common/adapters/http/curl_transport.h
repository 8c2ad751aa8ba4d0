// NoticeTransport over libcurl.
#pragma once

#include <string>

#include "common/ports/notice_transport.h"

namespace carillon {

class CurlTransport final : public NoticeTransport {
 public:
  // `ca_file`: PEM, who signs the certificates of receivers; empty = the system's own.
  explicit CurlTransport(std::string ca_file) : ca_file_(std::move(ca_file)) {}

  Result<int> Post(const NoticePost& post) override;
  Result<int> Mail(const NoticeMail& mail) override;

 private:
  const std::string ca_file_;
};

}  // namespace carillon
