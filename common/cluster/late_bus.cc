#include "common/cluster/late_bus.h"

#include <utility>

#include "common/base/log.h"

namespace carillon::cluster {
namespace {

// The longest wait for a broker at startup. It is short, because the daemon does not serve requests
// during this time.
constexpr Duration kFirstAnswer = 2s;
constexpr Duration kAnswer = 5s;
constexpr Duration kTryAgain = 1s;
constexpr Duration kIdle = 1h;
// While brokers return one by one, they may at first report a topic as missing, or with too few
// replicas. So the daemon fails only after this many tries in a row with wrong topics.
constexpr int kMisfitsMax = 30;

}  // namespace

Status LateProducer::Send(std::string_view topic, uint64_t partition_key, BusRecord record,
                          Delivered delivered) {
  BusProducer* const ready = ready_.load(std::memory_order_acquire);
  if (ready != nullptr) {
    return ready->Send(topic, partition_key, std::move(record), std::move(delivered));
  }
  return {ErrorCode::kUnavailable, "send: no broker has answered yet"};
}

void LateProducer::Set(std::unique_ptr<BusProducer> opened) {
  opened_ = std::move(opened);
  ready_.store(opened_.get(), std::memory_order_release);
}

Result<std::vector<ReceivedRecord>> LateConsumer::Poll(size_t max) {
  BusConsumer* const ready = ready_.load(std::memory_order_acquire);
  if (ready != nullptr) return ready->Poll(max);
  return std::vector<ReceivedRecord>();
}

Status LateConsumer::Commit(const std::vector<ReceivedRecord>& handled) {
  BusConsumer* const ready = ready_.load(std::memory_order_acquire);
  return ready != nullptr ? ready->Commit(handled) : Status();
}

void LateConsumer::OnReadable(std::function<void()> wake) {
  MutexLock lock(mu_);
  wake_ = std::move(wake);
  if (opened_) opened_->OnReadable(wake_);
}

BusHealth LateConsumer::Look() {
  BusConsumer* const ready = ready_.load(std::memory_order_acquire);
  if (ready != nullptr) return ready->Look();
  return {.contact = missed_ ? BusHealth::Contact::kSilent : BusHealth::Contact::kUnknown};
}

void LateConsumer::Set(std::unique_ptr<BusConsumer> opened) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    opened_ = std::move(opened);
    wake = wake_;
    if (wake) opened_->OnReadable(wake);
    ready_.store(opened_.get(), std::memory_order_release);
  }
  if (wake) wake();
}

BusConsumer& LateBus::AddConsumer(OpenConsumer open) {
  consumers_.push_back(std::make_unique<Late>());
  consumers_.back()->open = std::move(open);
  return consumers_.back()->consumer;
}

Status LateBus::Open() { return Try(kFirstAnswer); }

SteadyTime LateBus::Step(SteadyTime now) {
  if (opened_ || !failure().ok()) return now + kIdle;
  const Status tried = Try(kAnswer);
  misfits_ = tried.ok() ? 0 : misfits_ + 1;
  if (misfits_ == 1) log::Warn("kafka", "{}", tried.error().message);
  if (misfits_ < kMisfitsMax) return now + kTryAgain;
  if (ports_.required) {
    MutexLock lock(mu_);
    failure_ = tried;
  } else if (misfits_ == kMisfitsMax) {
    log::Error("kafka", "{}; it is tried again every second", tried.error().message);
  }
  return now + kTryAgain;
}

Status LateBus::failure() const {
  MutexLock lock(mu_);
  return failure_;
}

Status LateBus::Try(Duration limit) {
  const Status opened = OpenAll(limit);
  opened_ = opened.ok();
  if (opened.ok() || opened.code() != ErrorCode::kUnavailable) return opened;
  for (const auto& late : consumers_) late->consumer.Missed();
  return {};
}

// Opens the producer and the consumers that earlier calls have not opened.
Status LateBus::OpenAll(Duration limit) {
  if (!producer_opened_) {
    CARILLON_TRY(ports_.check_topics(limit));
    CARILLON_ASSIGN_OR_RETURN(auto producer, ports_.open_producer());
    producer_.Set(std::move(producer));
    producer_opened_ = true;
  }
  for (const auto& late : consumers_) {
    if (late->opened) continue;
    CARILLON_ASSIGN_OR_RETURN(auto consumer, late->open());
    late->consumer.Set(std::move(consumer));
    late->opened = true;
  }
  return {};
}

}  // namespace carillon::cluster
