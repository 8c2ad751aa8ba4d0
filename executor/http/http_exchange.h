// One attempt's request on a libcurl handle: what to send, what came back, and the result and log
// that follow.
//
// Threads  Used by the thread of CurlHttpRunner only.
// Owns     The handle, the first bytes of the response, and the attempt's log.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/ports/http_runner.h"
#include "executor/http/address_policy.h"
#include "executor/output/secret_masker.h"

namespace carillon::executor {

class HttpExchange {
 public:
  // Bytes of a body that are read for the conditions on it.
  static constexpr size_t kJudgedBytesMax = 256u << 10;
  static constexpr size_t kHeaderBytesMax = 64u << 10;  // of all headers of a response

  struct Rules {
    const AddressPolicy& policy;
    const std::string& ca_file;  // PEM; empty = the system's CAs
  };
  // `handle` is a fresh or reset libcurl handle.
  HttpExchange(StartHttp start, CURL* handle, const Rules& rules, const Clock& clock);
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // Sets the handle up for the request, or the one after a redirect. kInvalid: a header has a
  // control character, or the URL is not one; nothing may be sent then.
  Status Prepare(SteadyTime now);
  // A host name whose addresses the handle needs before it may send the request, within the timeout
  // of connecting.
  struct AwaitedName {
    std::string host;
    std::string port;
    SteadyTime since;
    SteadyTime until;
  };
  const std::optional<AwaitedName>& awaited() const { return awaited_; }
  // The name is no longer awaited then.
  void SetAddresses(const std::vector<std::string>& addresses, SteadyTime now);
  void CloseWithoutAddress(const std::string& why);
  // The transfer has ended. Returns true if Prepare must be called for a redirect, and false if the
  // exchange is over.
  bool OnDone(CURLcode code);
  // Ends it without a response. No callback of libcurl follows once the handle is removed from its
  // multi handle.
  void Close(RunState state, std::string_view reason, std::string error);
  void ExtendLease(SteadyTime lease_end);

  // The time at which Due returns a reason to close it.
  SteadyTime NextCheck() const;
  // Closes it if its timeout or lease has ended, or the name has no addresses yet; returns whether.
  bool CloseIfDue(SteadyTime now);

  // Once over: the end of the attempt, and its log.
  AttemptEnded TakeEnded();
  std::optional<AttemptOutput> TakeLog();

  CURL* handle() const { return handle_; }
  const HeldAttempt& attempt() const { return start_.attempt; }
  const JobId& job_id() const { return start_.job_id; }

 private:
  struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

  static size_t OnBody(char* data, size_t size, size_t count, void* user);
  static size_t OnHeader(char* data, size_t size, size_t count, void* user);
  static curl_socket_t OnOpenSocket(void* user, curlsocktype purpose, curl_sockaddr* address);

  Status SetHeaders();
  void SetRequest(SteadyTime now);
  void Note(const std::string& line);
  void NoteResponse();
  void NoteBody(std::string_view body);
  void Add(LogStream stream, std::string text);
  std::string Mask(std::string_view text) const;
  const std::string* Header(std::string_view name) const;
  void Judge();
  void Fail(CURLcode code);

  StartHttp start_;
  CURL* const handle_;
  const Rules rules_;
  const Clock& clock_;
  const WallTime started_;
  const SteadyTime deadline_;
  std::shared_ptr<const SecretPatterns> patterns_;  // null: nothing to mask
  HeaderList headers_;
  HeaderList resolved_;  // "+host:port:address,…"
  std::optional<AwaitedName> awaited_;
  Duration resolving_{0};  // how long the addresses took
  std::array<char, CURL_ERROR_SIZE> failure_{};
  std::string denied_;  // the address that the policy refused
  // ---- of the current response
  std::vector<std::pair<std::string, std::string>> answer_headers_;  // names in lower case
  size_t answer_header_bytes_ = 0;
  std::string body_;
  uint64_t body_bytes_ = 0;
  int64_t followed_ = 0;
  LogChunk log_;
  AttemptResult result_;
};

}  // namespace carillon::executor
