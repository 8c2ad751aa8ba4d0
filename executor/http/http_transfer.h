// One request on a libcurl handle, and what came back.
//
// Threads  Used by the thread of CurlHttpRunner only.
// Owns     The first bytes of the response.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/ports/http_runner.h"
#include "executor/http/address_policy.h"
#include "executor/http/http_proxy.h"

namespace carillon::executor {

class HttpTransfer {
 public:
  // Bytes of a packed body that are unpacked; it is not read further.
  static constexpr size_t kUnpackedBytesMax = 64u << 20;
  static constexpr size_t kHeaderBytesMax = 64u << 10;  // of all headers of a response

  struct Rules {
    const AddressPolicy& policy;
    const std::string& ca_file;  // PEM; empty = the system's CAs
    const HttpProxy& proxy;
  };
  // A host name whose addresses the handle needs before it may send the request, within the timeout
  // of connecting.
  struct AwaitedName {
    std::string host;
    std::string port;
    SteadyTime since;
    SteadyTime until;
  };
  // The response; names of headers in lower case.
  struct Received {
    std::vector<std::pair<std::string, std::string>> headers = {};
    size_t header_bytes = 0;
    std::string body = {};              // unpacked: its first bytes
    uint64_t body_bytes = 0;            // of the whole body
    bool whole = true;                  // `body` is all of it
    std::string unpacking_failed = {};  // why

    // Takes a line of the head, with or without its end.
    void AddLine(std::string_view line);
    // Null = not there.
    const std::string* Header(std::string_view name) const;
  };

  // `handle` is a fresh or reset libcurl handle.
  HttpTransfer(CURL* handle, const Rules& rules) : handle_(handle), rules_(rules) {}

  // Sets the handle up for `start`, whose url gets the form in which it is sent, and which stays
  // where it is until the transfer is over. `kept_bytes`: of the body. kInvalid: a header has a
  // control character, or the URL is none; kDenied: its address. Nothing may be sent then.
  Status Prepare(StartHttp& start, SteadyTime now, SteadyTime deadline, size_t kept_bytes);
  const std::optional<AwaitedName>& awaited() const { return awaited_; }
  // The name is no longer awaited then.
  void SetAddresses(const std::vector<std::string>& addresses, SteadyTime now);
  void ForgetName() { awaited_.reset(); }

  // The transfer has ended. Returns "" if there is a response, else why not; kDenied: the policy
  // refused the address.
  Status OnDone(CURLcode code);
  // Of the response.
  long StatusCode() const;
  // Sizes and times, for the log.
  std::string Figures() const;

  CURL* handle() const { return handle_; }
  Received& received() { return received_; }
  const Received& received() const { return received_; }

 private:
  struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

  static size_t OnBody(char* data, size_t size, size_t count, void* user);
  static size_t OnHeader(char* data, size_t size, size_t count, void* user);
  static curl_socket_t OnOpenSocket(void* user, curlsocktype purpose, curl_sockaddr* address);

  Status SetHeaders(const StartHttp& start);
  Status SetTarget(StartHttp& start, SteadyTime now);
  void SetRequest(const StartHttp& start, Duration left);
  void SetTls(const StartHttp& start);

  CURL* const handle_;
  const Rules rules_;
  HeaderList headers_;
  HeaderList resolved_;  // "+host:port:address,…"
  std::optional<AwaitedName> awaited_;
  Duration resolving_{0};  // how long the addresses took
  std::array<char, CURL_ERROR_SIZE> failure_{};
  std::string denied_;  // the address that the policy refused
  bool by_proxy_ = false;
  size_t kept_bytes_ = 0;
  Received received_;
};

}  // namespace carillon::executor
