// Composes notices and sends them through their channels.
//
// Threads  Thread-safe; Send and SendTest block for at most kNoticeTimeMax a channel.
// Always   What a delivery sends is the same each time, but for the time and signature of a
//          webhook. Its id is the notice's: a receiver knows a repetition by it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/notice_store.h"
#include "common/ports/notice_transport.h"
#include "scheduler/notify/notify_options.h"

namespace carillon::scheduler {

enum class SendVerdict {
  kDelivered,
  kTryAgain,  // the receiver said so, or said nothing of use
  kNoAnswer,  // likewise, and others of the channel would wait as long
  kRefused,   // for good
};
struct SendOutcome {
  SendVerdict verdict = SendVerdict::kTryAgain;
  int status = 0;          // of the answer; 0 = none
  std::string error = {};  // empty: delivered
};

// What came of the last thing this process sent through a channel.
struct ChannelHealth {
  DeliveryChannel channel = DeliveryChannel::kWebhook;
  std::optional<SendVerdict> last = {};  // nullopt: nothing was sent yet
  WallTime at = {};
};

struct TestOutcome {
  DeliveryChannel channel = DeliveryChannel::kWebhook;
  SendOutcome outcome;
};

class NoticeSender {
 public:
  NoticeSender(const Clock& clock, NoticeTransport& transport, NotifyOptions options)
      : clock_(clock), transport_(transport), options_(std::move(options)) {}

  const NotifyOptions& options() const { return options_; }

  // Through every channel there is; `rest_url` begins the link into the console.
  std::vector<NewDelivery> Compose(const OpenNotice& notice, const std::string& rest_url,
                                   WallTime now) const;
  SendOutcome Send(const Delivery& delivery) const;
  // A test through every channel, at once and once.
  std::vector<TestOutcome> SendTest() const;
  // Those that are set up.
  std::vector<ChannelHealth> Channels() const;

 private:
  SendOutcome Seen(DeliveryChannel channel, SendOutcome outcome) const;
  SendOutcome Post(const std::string& id, const std::string& body) const;
  SendOutcome Mail(const std::vector<std::string>& to, const std::string& message) const;

  const Clock& clock_;
  NoticeTransport& transport_;
  const NotifyOptions options_;
  mutable Mutex mu_;
  mutable std::map<DeliveryChannel, ChannelHealth> seen_ GUARDED_BY(mu_);
};

// "ntc_42": of webhook-id and Message-ID.
std::string NoticeIdText(uint64_t notice_id);

}  // namespace carillon::scheduler
