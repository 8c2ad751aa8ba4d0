// NoticeTransport with libcurl.
#pragma once

#include <atomic>
#include <string>

#include "common/ports/notice_transport.h"

namespace carillon {

class CurlTransport final : public NoticeTransport {
 public:
  // For receivers beyond loopback; empty = none.
  struct Proxies {
    std::string webhooks = {};
    std::string mails = {};  // asked to CONNECT
  };
  // `ca_file`: the CAs trusted for receivers and proxies, as PEM; empty = the system's CAs.
  explicit CurlTransport(std::string ca_file) : CurlTransport(std::move(ca_file), Proxies()) {}
  CurlTransport(std::string ca_file, Proxies proxies)
      : ca_file_(std::move(ca_file)), proxies_(std::move(proxies)) {}

  Result<int> Post(const NoticePost& post) override;
  Result<int> Mail(const NoticeMail& mail) override;
  // Ends a call in progress within about a second, and each later call immediately, as if the
  // receiver had not answered. Cannot be undone. Call Stop before you stop the sending loops, so
  // that no receiver delays the end of a loop.
  void Stop() { stopped_ = true; }

 private:
  const std::string ca_file_;
  const Proxies proxies_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace carillon
