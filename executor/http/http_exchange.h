// One attempt's request on a libcurl handle, with the redirects and the questions for its status
// that follow: what to send, what came back, and the result and log.
//
// Threads  Used by the thread of CurlHttpRunner only.
// Owns     The attempt's log.
#pragma once

#include <curl/curl.h>

#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/ports/http_runner.h"
#include "executor/http/http_log.h"
#include "executor/http/http_transfer.h"
#include "executor/http/response_judge.h"

namespace carillon::executor {

class HttpExchange {
 public:
  // Bytes of a body that are read for the conditions on it.
  static constexpr size_t kJudgedBytesMax = 256u << 10;
  // Questions for the status in a row that may fail.
  static constexpr int kStatusFailuresMax = 5;

  // `handle` is a fresh or reset libcurl handle.
  HttpExchange(StartHttp start, CURL* handle, const HttpTransfer::Rules& rules, const Clock& clock);
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // Sets the handle up for the next request. False: nothing may be sent, and it is over.
  bool Prepare(SteadyTime now);
  // The time at which Prepare is to be called; nullopt: a request is in progress.
  const std::optional<SteadyTime>& resumes() const { return resumes_; }
  bool ResumesBy(SteadyTime now) const { return resumes_ && *resumes_ <= now; }
  const std::optional<HttpTransfer::AwaitedName>& awaited() const { return transfer_.awaited(); }
  void SetAddresses(const std::vector<std::string>& addresses, SteadyTime now) {
    transfer_.SetAddresses(addresses, now);
  }
  // Returns as OnDone.
  bool GoOnWithoutAddress(const std::string& why);
  // The transfer has ended. Returns false if the exchange is over; if not, Prepare is to be called
  // at the time of resumes().
  bool OnDone(CURLcode code);
  // Ends it without a response. No callback of libcurl follows once the handle is removed from its
  // multi handle.
  void Close(RunState state, std::string_view reason, std::string error);
  void ExtendLease(SteadyTime lease_end);

  // The time at which Due returns a reason to close it.
  SteadyTime NextCheck() const;
  // Closes it if its timeout or lease has ended. Returns whether it did.
  bool CloseIfDue(SteadyTime now);
  // Says that the name has no addresses in time, if so.
  std::optional<std::string> Unresolved(SteadyTime now) const;

  // Once over: the end of the attempt, and its log.
  AttemptEnded TakeEnded();
  std::optional<AttemptOutput> TakeLog(bool last);

  CURL* handle() const { return transfer_.handle(); }
  const HeldAttempt& attempt() const { return start_.attempt; }
  const JobId& job_id() const { return start_.job_id; }

 private:
  void NoteResponse();
  const std::string* Header(std::string_view name) const {
    return transfer_.received().Header(name);
  }
  void ReadBody();
  // Without the secrets that were there before it became text.
  std::string_view ShownBody() const;
  bool Follow(const std::string& location);
  bool Judge();
  bool Wait(const HttpAnswer& answer);
  // Of the questions for a status: the first ones, and then ever fewer.
  bool IsNoted() const;
  void Plan(std::string_view why);
  bool AskLater(std::string_view why);
  // Ends it, as its code says.
  void Fail(const Error& error);

  StartHttp start_;
  HttpTransfer transfer_;
  const Clock& clock_;
  const WallTime started_;
  const SteadyTime deadline_;
  std::optional<SteadyTime> resumes_ = SteadyTime{};
  int64_t followed_ = 0;
  std::optional<StartHttp> status_request_;  // once the work is accepted
  int64_t asked_ = 0;                        // questions for its status
  int status_failures_ = 0;                  // in a row
  std::optional<std::string> shown_body_;    // unset: the body itself
  HttpLog log_;
  AttemptResult result_;
};

}  // namespace carillon::executor
