#include "executor/http/curl_http_runner.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "common/base/check.h"

namespace carillon::executor {
namespace {

constexpr int kIdleMilliseconds = 1000;
constexpr size_t kIdleHandlesMax = 256;

CURLM* MakeMulti() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  CURLM* const multi = curl_multi_init();
  CARILLON_CHECK(multi != nullptr, "curl_multi_init");
  return multi;
}

}  // namespace

CurlHttpRunner::CurlHttpRunner(const Clock& clock, Metrics& metrics, Options options,
                               std::shared_ptr<const HostLookup> lookup)
    : clock_(clock),
      open_requests_(metrics.gauge("carillon_http_requests_open")),
      options_(std::move(options)),
      multi_(MakeMulti()),
      resolver_(std::move(lookup), clock, [this] { curl_multi_wakeup(multi_.get()); }) {
  curl_multi_setopt(multi_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, options_.connections_max);
  curl_multi_setopt(multi_.get(), CURLMOPT_MAX_HOST_CONNECTIONS, options_.host_connections_max);
  // Idle connections that are kept for the next request.
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, options_.connections_max);
  thread_ = std::thread([this] { Run(); });
}

CurlHttpRunner::~CurlHttpRunner() {
  {
    MutexLock lock(mu_);
    orders_.stop = true;
  }
  curl_multi_wakeup(multi_.get());
  thread_.join();
}

void CurlHttpRunner::Start(StartHttp start) {
  {
    MutexLock lock(mu_);
    orders_.starts.push_back(std::move(start));
  }
  curl_multi_wakeup(multi_.get());
}

Status CurlHttpRunner::RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  {
    MutexLock lock(mu_);
    orders_.renewals.push_back({attempts, lease_end});
  }
  curl_multi_wakeup(multi_.get());
  return {};
}

Status CurlHttpRunner::Cancel(const HeldAttempt& attempt, CancelMode) {
  {
    MutexLock lock(mu_);
    orders_.cancels.push_back(attempt);
  }
  curl_multi_wakeup(multi_.get());
  return {};
}

std::vector<AttemptEvent> CurlHttpRunner::Receive(size_t max) {
  MutexLock lock(mu_);
  return TakeOldest(events_, max);
}

void CurlHttpRunner::OnReadable(std::function<void()> wake) {
  MutexLock lock(mu_);
  wake_ = std::move(wake);
}

void CurlHttpRunner::Run() {
  while (true) {
    Orders orders;
    {
      MutexLock lock(mu_);
      orders = std::exchange(orders_, {});
    }
    if (orders.stop) break;
    Carry(std::move(orders));
    TakeAddresses();
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    TakeDone();
    CloseDue();
    Report();
    curl_multi_poll(multi_.get(), nullptr, 0, WaitMilliseconds(), nullptr);
  }
  for (auto& [id, open] : open_) curl_multi_remove_handle(multi_.get(), open.handle.get());
  open_.clear();
}

void CurlHttpRunner::Carry(Orders orders) {
  for (StartHttp& start : orders.starts) Begin(std::move(start));
  for (const Renewal& renewal : orders.renewals) {
    for (const HeldAttempt& held : renewal.attempts) {
      const auto open = open_.find(IdOf(held));
      if (open != open_.end()) open->second.exchange->ExtendLease(renewal.lease_end);
    }
  }
  for (const HeldAttempt& held : orders.cancels) {
    const auto open = open_.find(IdOf(held));
    if (open == open_.end() || open->second.exchange->attempt().token != held.token) continue;
    open->second.exchange->Close(RunState::kCancelled, reason::kCancelRequested,
                                 "the request was closed; what the server did stays done");
    End(open);
  }
}

void CurlHttpRunner::Begin(StartHttp start) {
  const AttemptId id = IdOf(start.attempt);
  if (open_.contains(id)) return;  // asked twice
  Open open;
  open.handle = TakeHandle();
  open.exchange = std::make_unique<HttpExchange>(
      std::move(start), open.handle.get(),
      HttpTransfer::Rules{
          .policy = options_.policy, .ca_file = options_.ca_file, .proxy = options_.proxy},
      clock_);
  const auto placed = open_.emplace(id, std::move(open)).first;
  if (placed->second.exchange->CloseIfDue(clock_.Steady())) return End(placed);
  Continue(placed);
}

// Its handle is in no transfer.
void CurlHttpRunner::Continue(std::map<AttemptId, Open>::iterator open) {
  HttpExchange& exchange = *open->second.exchange;
  const SteadyTime now = clock_.Steady();
  if (!exchange.ResumesBy(now)) {
    next_check_ = std::min(next_check_, exchange.NextCheck());
    // Who looks at the run sees what it waits for.
    if (auto log = exchange.TakeLog(false)) ended_.push_back(std::move(*log));
    return;
  }
  if (!exchange.Prepare(now)) return End(open);
  Join(open->second);
}

void CurlHttpRunner::Join(Open& open) {
  next_check_ = std::min(next_check_, open.exchange->NextCheck());
  if (const auto& awaited = open.exchange->awaited()) {
    awaiting_.emplace(awaited->host, IdOf(open.exchange->attempt()));
    resolver_.Ask(awaited->host, open.exchange->job_id(), awaited->until);
    return;
  }
  CARILLON_CHECK(curl_multi_add_handle(multi_.get(), open.handle.get()) == CURLM_OK,
                 "curl_multi_add_handle");
}

void CurlHttpRunner::TakeAddresses() {
  for (const NameResolver::Answer& answer : resolver_.Take()) {
    const auto [first, last] = awaiting_.equal_range(answer.host);
    const std::multimap<std::string, AttemptId> awaiting(first, last);
    awaiting_.erase(first, last);
    for (const auto& [host, id] : awaiting) {
      const auto open = open_.find(id);
      if (answer.addresses.ok()) {
        open->second.exchange->SetAddresses(*answer.addresses, clock_.Steady());
        Join(open->second);
      } else {
        const bool over =
            !open->second.exchange->GoOnWithoutAddress(answer.addresses.error().message);
        over ? End(open) : Continue(open);
      }
    }
  }
}

void CurlHttpRunner::TakeDone() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const handle = message->easy_handle;
    const CURLcode code = message->data.result;
    HttpExchange* exchange = nullptr;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &exchange);
    const auto open = open_.find(IdOf(exchange->attempt()));
    if (!exchange->OnDone(code)) {
      End(open);
      continue;
    }
    curl_multi_remove_handle(multi_.get(), handle);
    Continue(open);
  }
}

void CurlHttpRunner::CloseDue() {
  const SteadyTime now = clock_.Steady();
  if (now < next_check_) return;
  next_check_ = SteadyTime::max();
  for (auto open = open_.begin(); open != open_.end();) {
    const auto current = open++;
    HttpExchange& exchange = *current->second.exchange;
    if (exchange.CloseIfDue(now)) {
      End(current);
    } else if (const auto why = exchange.Unresolved(now)) {
      StopAwaiting(current);
      exchange.GoOnWithoutAddress(*why) ? Continue(current) : End(current);
    } else if (exchange.ResumesBy(now)) {
      Continue(current);
    } else {
      next_check_ = std::min(next_check_, exchange.NextCheck());
    }
  }
}

void CurlHttpRunner::StopAwaiting(std::map<AttemptId, Open>::iterator open) {
  if (const auto& awaited = open->second.exchange->awaited()) {
    auto [each, last] = awaiting_.equal_range(awaited->host);
    while (each != last && each->second != open->first) ++each;
    if (each != last) awaiting_.erase(each);
  }
}

void CurlHttpRunner::End(std::map<AttemptId, Open>::iterator open) {
  StopAwaiting(open);
  // Closes the connection of a transfer that is in progress.
  curl_multi_remove_handle(multi_.get(), open->second.handle.get());
  if (auto log = open->second.exchange->TakeLog(true)) ended_.push_back(std::move(*log));
  ended_.push_back(open->second.exchange->TakeEnded());
  // The handle refers to the exchange.
  curl_easy_reset(open->second.handle.get());
  if (idle_.size() < kIdleHandlesMax) idle_.push_back(std::move(open->second.handle));
  open_.erase(open);
}

void CurlHttpRunner::Report() {
  open_requests_.Set(static_cast<double>(open_.size()));
  if (ended_.empty()) return;
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    std::move(ended_.begin(), ended_.end(), std::back_inserter(events_));
    wake = wake_;
  }
  ended_.clear();
  if (wake) wake();
}

int CurlHttpRunner::WaitMilliseconds() const {
  if (next_check_ == SteadyTime::max()) return kIdleMilliseconds;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_check_ - clock_.Steady());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, kIdleMilliseconds));
}

CurlHttpRunner::Easy CurlHttpRunner::TakeHandle() {
  if (idle_.empty()) {
    Easy handle(curl_easy_init());
    CARILLON_CHECK(handle != nullptr, "curl_easy_init");
    return handle;
  }
  Easy handle = std::move(idle_.back());
  idle_.pop_back();
  return handle;
}

}  // namespace carillon::executor
