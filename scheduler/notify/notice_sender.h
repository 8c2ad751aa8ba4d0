// Composes notifications and sends them through their channels.
//
// Threads  Thread-safe; Send and SendTest block for at most kNoticeTimeMax per channel.
// Always   Each attempt of a delivery sends the same content, except for the time and
//          signature of a webhook. A message carries the id of its notice. So a receiver can
//          recognise a repetition.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/notice_transport.h"
#include "common/ports/store/notice_store.h"
#include "scheduler/notify/notify_options.h"
#include "scheduler/notify/notify_secrets.h"

namespace carillon::scheduler {

enum class SendVerdict {
  kDelivered,
  kTryAgain,  // the receiver asked for a retry, or its answer was unusable
  // Retry later. The receiver is also unavailable for other messages of this channel.
  kNoAnswer,
  kRefused,  // do not retry
};
struct SendOutcome {
  SendVerdict verdict = SendVerdict::kTryAgain;
  int status = 0;          // status code of the answer; 0 = none
  std::string error = {};  // empty if delivered
};

// The outcome of the last message that this process sent through a channel.
struct ChannelHealth {
  DeliveryChannel channel = DeliveryChannel::kWebhook;
  std::optional<SendVerdict> last = {};  // nullopt: nothing was sent yet
  WallTime at = {};                      // when it was sent
};

struct TestOutcome {
  DeliveryChannel channel = DeliveryChannel::kWebhook;
  SendOutcome outcome;
};

class NoticeSender {
 public:
  NoticeSender(const Clock& clock, NoticeTransport& transport, const NotifySecrets& secrets,
               NotifyOptions options)
      : clock_(clock), transport_(transport), secrets_(secrets), options_(std::move(options)) {}

  const NotifyOptions& options() const { return options_; }

  // Returns one delivery for each channel that is set up. For mail, there must also be recipients.
  // `console_url` is the base of the link to the console.
  std::vector<NewDelivery> Compose(const OpenNotice& notice, const std::string& console_url,
                                   WallTime now) const;
  SendOutcome Send(const Delivery& delivery) const;
  // Sends a test message, without retries, through every channel that is set up. For mail, there
  // must also be default recipients.
  std::vector<TestOutcome> SendTest() const;
  // The channels that are set up.
  std::vector<ChannelHealth> Channels() const;

 private:
  SendOutcome Seen(DeliveryChannel channel, SendOutcome outcome) const;
  SendOutcome Post(const std::string& id, const std::string& body) const;
  SendOutcome Mail(const std::vector<std::string>& to, const std::string& message) const;

  const Clock& clock_;
  NoticeTransport& transport_;
  const NotifySecrets& secrets_;
  const NotifyOptions options_;
  mutable Mutex mu_;
  mutable std::map<DeliveryChannel, ChannelHealth> seen_ GUARDED_BY(mu_);
};

// The id of a notice in webhook-id and Message-ID, such as "ntc_42".
std::string NoticeIdText(uint64_t notice_id);

}  // namespace carillon::scheduler
