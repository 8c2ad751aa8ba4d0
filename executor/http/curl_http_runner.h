// HttpRunner with libcurl: all requests on one thread, without a process for each.
//
// Threads  Owns one thread, which waits for sockets, for starts and for the next deadline, and
//          blocks in nothing else: names are looked up elsewhere. The methods of HttpRunner are
//          thread-safe and never block.
// Time     Steady for leases and timeouts.
// Errors   What goes wrong with a request is the result of its attempt.
// Always   A request is closed when it is cancelled, at its timeout, and 3 s before the end of its
//          lease.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/http_runner.h"
#include "executor/http/address_policy.h"
#include "executor/http/http_exchange.h"
#include "executor/http/name_resolver.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class CurlHttpRunner final : public HttpRunner {
 public:
  struct Options {
    AddressPolicy policy = {};
    std::string ca_file = {};  // PEM, CAs trusted for servers; empty = the system's
    HttpProxy proxy = {};
    long connections_max = 1024;  // further requests wait for one, within their timeout
    long host_connections_max = 64;
  };
  CurlHttpRunner(const Clock& clock, Metrics& metrics, Options options,
                 std::shared_ptr<const HostLookup> lookup = SystemHostLookup());
  // Closes all requests without a result.
  ~CurlHttpRunner() override;

  void Start(StartHttp start) override;
  Status RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) override;
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override;
  std::vector<AttemptEvent> Receive(size_t max) override;
  void OnReadable(std::function<void()> wake) override;

 private:
  struct EasyDeleter {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  struct MultiDeleter {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };
  using Easy = std::unique_ptr<CURL, EasyDeleter>;
  struct Open {
    Easy handle;
    std::unique_ptr<HttpExchange> exchange;
  };
  struct Renewal {
    std::vector<HeldAttempt> attempts;
    SteadyTime lease_end;
  };
  // Orders from other threads.
  struct Orders {
    std::vector<StartHttp> starts;
    std::vector<Renewal> renewals;
    std::vector<HeldAttempt> cancels;
    bool stop = false;
  };

  void Run();
  void Carry(Orders orders);
  void Begin(StartHttp start);
  void Continue(std::map<AttemptId, Open>::iterator open);
  void Join(Open& open);
  void TakeAddresses();
  void TakeDone();
  void CloseDue();
  void StopAwaiting(std::map<AttemptId, Open>::iterator open);
  void End(std::map<AttemptId, Open>::iterator open);
  void Report();
  int WaitMilliseconds() const;
  Easy TakeHandle();

  const Clock& clock_;
  Gauge& open_requests_;
  const Options options_;
  std::unique_ptr<CURLM, MultiDeleter> multi_;

  mutable Mutex mu_;
  Orders orders_ GUARDED_BY(mu_);
  std::deque<AttemptEvent> events_ GUARDED_BY(mu_);
  std::function<void()> wake_ GUARDED_BY(mu_);

  // Used by the thread only.
  std::map<AttemptId, Open> open_;
  std::multimap<std::string, AttemptId> awaiting_;  // open requests by the name that they await
  std::vector<Easy> idle_;
  std::vector<AttemptEvent> ended_;
  SteadyTime next_check_ = SteadyTime::max();

  NameResolver resolver_;  // wakes multi_
  std::thread thread_;     // last: it uses all members above
};

}  // namespace carillon::executor
