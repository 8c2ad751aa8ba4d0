// Rules of notifications about a job's runs: kinds, who wants which, how often, and how long a
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
  kFailed,     // a run has ended without success, and no try is left
  kMissed,     // fires that were not planned in time, and will not be run
  kLate,       // a run has not started, or has started, later than the job allows
  kRecovered,  // the first success after a failure that was told
};
std::string_view Name(NoticeKind kind);  // "failed", …
Result<NoticeKind> ParseNoticeKind(std::string_view text);
// "failed,late": kInvalid names the first that is none. Spaces are skipped; empty = none.
Result<std::vector<NoticeKind>> ParseNoticeKinds(std::string_view list);

// Of a job. What is not said is the cluster's.
struct NotifyRules {
  std::optional<std::vector<NoticeKind>> on = {};  // empty list: nothing is told
  std::optional<int64_t> late_after_s = {};        // 1-604,800
  std::vector<std::string> mail_to = {};           // <= 20; in the place of the cluster's

  bool operator==(const NotifyRules&) const = default;
};
// Bounds and addresses; pointers begin with "/notify".
Status ValidateNotify(const NotifyRules& rules);

// "who@host": no spaces, controls or anything that means more in a header.
bool IsMailAddress(std::string_view text);

// Of the cluster.
struct NotifyDefaults {
  std::vector<NoticeKind> on = {};
  Duration late_after = 5min;
  Duration repeat_after = 1h;
  std::vector<std::string> mail_to = {};
};

bool IsWanted(NoticeKind kind, const NotifyRules& rules, const NotifyDefaults& defaults);
// How late a start may be before it is told; zero: it never is.
Duration TellsLateAfter(const NotifyRules& rules, const NotifyDefaults& defaults);

// What was last told of a job, by kind.
struct NoticeMemory {
  WallTime told = WallTime{};  // zero = never
  int64_t held_back = 0;       // since then
  bool recovered = false;      // kFailed: a success was found since then
};

enum class NoticeVerdict {
  kTell,
  kHoldBack,  // too soon after the last one: the next one says how many there were
  kDrop,      // nobody wants it
};
// At least this lies between two failures of a job that are told, though it recovers in between.
inline constexpr Duration kFlappingToldEvery = 1min;
// A recovery is always told: it follows a failure that was. The failure after it is news.
NoticeVerdict DecideNotice(NoticeKind kind, const NoticeMemory& memory, Duration repeat_after,
                           WallTime now);

enum class DeliveryChannel { kWebhook, kMail };
std::string_view Name(DeliveryChannel channel);  // "webhook", "mail"
enum class DeliveryState { kPending, kDelivered, kGivenUp };
std::string_view Name(DeliveryState state);  // "PENDING", "DELIVERED", "GIVEN_UP"
Result<DeliveryState> ParseDeliveryState(std::string_view text);

// When a delivery that failed for the `attempts`-th time is tried again: 10 s, then three times as
// long each time, 1 h at most; nullopt from a day after it was asked for.
inline constexpr Duration kDeliveryTriedFor = 24h;
std::optional<WallTime> NextDelivery(int attempts, WallTime asked, WallTime now);

}  // namespace carillon
