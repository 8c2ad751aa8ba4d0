// One attempt's request on a libcurl handle, with the redirects and the questions for its status
// that follow: what to send, what came back, and the result and log.
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
#include "executor/http/http_log.h"
#include "executor/http/http_proxy.h"
#include "executor/http/response_judge.h"

namespace carillon::executor {

class HttpExchange {
 public:
  // Bytes of a body that are read for the conditions on it.
  static constexpr size_t kJudgedBytesMax = 256u << 10;
  // Bytes of a packed body that are unpacked; it is not read further.
  static constexpr size_t kUnpackedBytesMax = 64u << 20;
  // Questions for the status in a row that may fail.
  static constexpr int kStatusFailuresMax = 5;
  static constexpr size_t kHeaderBytesMax = 64u << 10;  // of all headers of a response

  struct Rules {
    const AddressPolicy& policy;
    const std::string& ca_file;  // PEM; empty = the system's CAs
    const HttpProxy& proxy;
  };
  // `handle` is a fresh or reset libcurl handle.
  HttpExchange(StartHttp start, CURL* handle, const Rules& rules, const Clock& clock);
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // Sets the handle up for the next request. False: nothing may be sent, and it is over.
  bool Prepare(SteadyTime now);
  // The time at which Prepare is to be called; nullopt: a request is in progress.
  const std::optional<SteadyTime>& resumes() const { return resumes_; }
  bool ResumesBy(SteadyTime now) const { return resumes_ && *resumes_ <= now; }
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
  // Returns as OnDone.
  bool GoOnWithoutAddress(const std::string& why);
  // The transfer has ended. Returns false if the exchange is over; else Prepare is to be called at
  // resumes().
  bool OnDone(CURLcode code);
  // Ends it without a response. No callback of libcurl follows once the handle is removed from its
  // multi handle.
  void Close(RunState state, std::string_view reason, std::string error);
  void ExtendLease(SteadyTime lease_end);

  // The time at which Due returns a reason to close it.
  SteadyTime NextCheck() const;
  // Closes it if its timeout or lease has ended, or the name has no addresses in time; returns
  // whether.
  bool CloseIfDue(SteadyTime now);

  // Once over: the end of the attempt, and its log.
  AttemptEnded TakeEnded();
  std::optional<AttemptOutput> TakeLog(bool last);

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
  Status SetTarget(SteadyTime now);
  void SetRequest(SteadyTime now);
  void SetTls();
  void NoteResponse();
  const std::string* Header(std::string_view name) const;
  void ReadBody();
  bool Follow(const std::string& location);
  bool Judge();
  bool Wait(const HttpAnswer& answer);
  // Of the questions for a status: the first ones, and then ever fewer.
  bool IsNoted() const;
  void Plan(std::string_view why);
  bool AskLater(std::string_view why);
  void Fail(const Error& error);
  bool Fail(CURLcode code);

  StartHttp start_;
  CURL* const handle_;
  const Rules rules_;
  const Clock& clock_;
  const WallTime started_;
  const SteadyTime deadline_;
  HeaderList headers_;
  HeaderList resolved_;  // "+host:port:address,…"
  std::optional<AwaitedName> awaited_;
  Duration resolving_{0};  // how long the addresses took
  std::array<char, CURL_ERROR_SIZE> failure_{};
  std::string denied_;  // the address that the policy refused
  bool by_proxy_ = false;
  std::optional<SteadyTime> resumes_ = SteadyTime{};
  // ---- of the current response
  std::vector<std::pair<std::string, std::string>> answer_headers_;  // names in lower case
  size_t answer_header_bytes_ = 0;
  std::string body_;
  uint64_t body_bytes_ = 0;
  bool whole_body_ = true;
  std::string unpacking_failed_;  // why
  // ----
  int64_t followed_ = 0;
  std::optional<StartHttp> status_request_;  // once the work is accepted
  int64_t asked_ = 0;                        // questions for its status
  int status_failures_ = 0;                  // in a row
  HttpLog log_;
  AttemptResult result_;
};

}  // namespace carillon::executor
