// NoticeTransport over libcurl.
#pragma once

#include <atomic>
#include <string>

#include "common/ports/notice_transport.h"

namespace carillon {

class CurlTransport final : public NoticeTransport {
 public:
  // `ca_file`: PEM, who signs the certificates of receivers; empty = the system's own.
  explicit CurlTransport(std::string ca_file) : ca_file_(std::move(ca_file)) {}

  Result<int> Post(const NoticePost& post) override;
  Result<int> Mail(const NoticeMail& mail) override;
  // For good: a call under way ends within a second or so and later ones at once, as if nobody
  // answered. Whoever stops the loops that send says it first, lest a receiver hold them up.
  void Stop() { stopped_ = true; }

 private:
  const std::string ca_file_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace carillon
