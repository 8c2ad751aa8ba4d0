// Rules of notifications about a job's runs: kinds, subscriptions, rate limits, and how long a
// delivery is retried. Pure.
//
// Place    docs/notify.md; the room is scheduler/notify.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

enum class NoticeKind {
  kFailed,     // a run ended without success, and no retry is left
  kMissed,     // fires were not planned in time, and will not be run
  kLate,       // a run started, or is still waiting, later than the job allows
  kRecovered,  // the first success after a failure that was notified
  kJobPaused,  // the job was paused, because as many runs in a row failed as it allows
  kShed,       // under overload runs are shed; only by the cluster's defaults
  kApproval,   // a node of a workflow waits for a decision
};
std::string_view Name(NoticeKind kind);  // "failed", …
Result<NoticeKind> ParseNoticeKind(std::string_view text);
// Parses "failed,late". kInvalid names the first unknown kind. Spaces are skipped; empty = none.
Result<std::vector<NoticeKind>> ParseNoticeKinds(std::string_view list);

// The rules of one job. Values not set are taken from the cluster's defaults.
struct NotifyRules {
  std::optional<std::vector<NoticeKind>> on = {};  // empty list: nothing is notified
  std::optional<int64_t> late_after_s = {};        // 1-604,800
  std::vector<std::string> mail_to = {};           // <= 20; replaces the cluster's list

  bool operator==(const NotifyRules&) const = default;
};
// Checks bounds and mail addresses. Pointers begin with "/notify".
Status ValidateNotify(const NotifyRules& rules);

// True for "name@host" without spaces, control characters, or characters that have a special
// meaning in a mail header.
bool IsMailAddress(std::string_view text);

// The cluster's defaults.
struct NotifyDefaults {
  std::vector<NoticeKind> on = {};
  Duration late_after = 5min;
  Duration repeat_after = 1h;
  std::vector<std::string> mail_to = {};
};

bool IsWanted(NoticeKind kind, const NotifyRules& rules, const NotifyDefaults& defaults);
// Returns the delay from which a late start is notified; zero: never.
Duration LateNoticeAfter(const NotifyRules& rules, const NotifyDefaults& defaults);

// The last notice of one kind about a job.
struct NoticeMemory {
  WallTime told = WallTime{};  // last sent; zero = never
  int64_t held_back = 0;       // notices held back after `told`
  bool recovered = false;      // kFailed: a success followed the last notice
};

enum class NoticeVerdict {
  kTell,
  kHoldBack,  // too soon after the last notice: only counted; the next notice reports the count
  kDrop,      // the rules exclude the notice, or it has no recipient
};
// The least time between two notified failures of a job, even if the job recovers in between.
inline constexpr Duration kFlappingNoticeEvery = 1min;
// Decides whether a notice is sent now. A recovery is always sent, because it follows a notified
// failure. A failure after a success is news: it waits at most kFlappingNoticeEvery, even if
// `repeat_after` is longer.
NoticeVerdict DecideNotice(NoticeKind kind, const NoticeMemory& memory, Duration repeat_after,
                           WallTime now);

enum class DeliveryChannel { kWebhook, kMail };
std::string_view Name(DeliveryChannel channel);  // "webhook", "mail"
enum class DeliveryState { kPending, kDelivered, kGivenUp };
std::string_view Name(DeliveryState state);  // "PENDING", "DELIVERED", "GIVEN_UP"
Result<DeliveryState> ParseDeliveryState(std::string_view text);

// The time of the next try after the `attempts`-th failure of a delivery. The first wait is 10 s.
// Each further wait is three times as long, at most 1 h. Returns nullopt if the delivery was
// requested (`asked`) a day or more ago.
inline constexpr Duration kDeliveryTriedFor = 24h;
std::optional<WallTime> NextDelivery(int attempts, WallTime asked, WallTime now);

}  // namespace carillon
