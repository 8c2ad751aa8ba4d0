#include "common/domain/notice.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace carillon {
namespace {

constexpr std::array kKinds = {NoticeKind::kFailed,    NoticeKind::kMissed,    NoticeKind::kLate,
                               NoticeKind::kRecovered, NoticeKind::kJobPaused, NoticeKind::kShed,
                               NoticeKind::kApproval};
constexpr int64_t kLateAfterMax = 604'800;
constexpr size_t kMailAddressesMax = 20;
constexpr size_t kMailAddressBytesMax = 254;  // RFC 5321
constexpr Duration kFirstRetry = 10s;
constexpr Duration kLongestRetry = 1h;
constexpr int kRetryFactor = 3;

bool IsMailCharacter(char c) {
  constexpr std::string_view kSpecial = "\"(),:;<>@[\\]";
  return c > ' ' && c < 0x7f && kSpecial.find(c) == std::string_view::npos;
}

}  // namespace

std::string_view Name(NoticeKind kind) {
  switch (kind) {
    case NoticeKind::kFailed: return "failed";
    case NoticeKind::kMissed: return "missed";
    case NoticeKind::kLate: return "late";
    case NoticeKind::kRecovered: return "recovered";
    case NoticeKind::kJobPaused: return "job_paused";
    case NoticeKind::kShed: return "shed";
    case NoticeKind::kApproval: return "approval";
  }
  return "unknown";
}

Result<NoticeKind> ParseNoticeKind(std::string_view text) {
  for (const NoticeKind kind : kKinds) {
    if (Name(kind) == text) return kind;
  }
  return {
      ErrorCode::kInvalid,
      fmt::format("'{}' is not one of failed, missed, late, recovered, job_paused, shed, approval",
                  text.substr(0, 64))};
}

Result<std::vector<NoticeKind>> ParseNoticeKinds(std::string_view list) {
  std::vector<NoticeKind> kinds;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (word.empty()) continue;
    CARILLON_ASSIGN_OR_RETURN(const NoticeKind kind, ParseNoticeKind(word));
    kinds.push_back(kind);
  }
  return kinds;
}

bool IsMailAddress(std::string_view text) {
  const size_t at = text.find('@');
  if (text.size() > kMailAddressBytesMax || at == std::string_view::npos || at == 0) return false;
  const std::string_view host = text.substr(at + 1);
  if (host.empty() || text.front() == '-') return false;
  const std::string_view local = text.substr(0, at);
  return std::all_of(local.begin(), local.end(), IsMailCharacter) &&
         std::all_of(host.begin(), host.end(), IsMailCharacter);
}

Status ValidateNotify(const NotifyRules& rules) {
  if (rules.on) {
    for (size_t i = 0; i < rules.on->size(); ++i) {
      if ((*rules.on)[i] == NoticeKind::kShed) {
        return InvalidAt(fmt::format("/notify/on/{}", i),
                         "is about the cluster, not about a job: set notify.on of the scheduler");
      }
      const auto end = rules.on->begin() + static_cast<long>(i);
      if (std::find(rules.on->begin(), end, (*rules.on)[i]) == end) continue;
      return InvalidAt(fmt::format("/notify/on/{}", i), "is repeated");
    }
  }
  if (rules.late_after_s && (*rules.late_after_s < 1 || *rules.late_after_s > kLateAfterMax)) {
    return InvalidAt("/notify/late_after_s",
                     fmt::format("late_after_s is {}; it must be from 1 to {}", *rules.late_after_s,
                                 kLateAfterMax));
  }
  if (rules.mail_to.size() > kMailAddressesMax) {
    return InvalidAt("/notify/mail_to", fmt::format("has {} entries; at most {} are allowed",
                                                    rules.mail_to.size(), kMailAddressesMax));
  }
  for (size_t i = 0; i < rules.mail_to.size(); ++i) {
    if (IsMailAddress(rules.mail_to[i])) continue;
    return InvalidAt(fmt::format("/notify/mail_to/{}", i),
                     "is not a mail address (user@host, ASCII)");
  }
  return {};
}

bool IsWanted(NoticeKind kind, const NotifyRules& rules, const NotifyDefaults& defaults) {
  const bool of_job = rules.on && kind != NoticeKind::kShed;
  const std::vector<NoticeKind>& on = of_job ? *rules.on : defaults.on;
  return std::find(on.begin(), on.end(), kind) != on.end();
}

Duration LateNoticeAfter(const NotifyRules& rules, const NotifyDefaults& defaults) {
  if (!IsWanted(NoticeKind::kLate, rules, defaults)) return {};
  return rules.late_after_s ? Duration(std::chrono::seconds(*rules.late_after_s))
                            : defaults.late_after;
}

NoticeVerdict DecideNotice(NoticeKind kind, const NoticeMemory& memory, Duration repeat_after,
                           WallTime now) {
  // Somebody must answer the question of an approval.
  const bool always = kind == NoticeKind::kRecovered || kind == NoticeKind::kApproval;
  if (always || memory.told == WallTime{}) return NoticeVerdict::kTell;
  if (memory.recovered) repeat_after = std::min(repeat_after, kFlappingNoticeEvery);
  return now - memory.told >= repeat_after ? NoticeVerdict::kTell : NoticeVerdict::kHoldBack;
}

std::string_view Name(DeliveryChannel channel) {
  return channel == DeliveryChannel::kWebhook ? "webhook" : "mail";
}

std::string_view Name(DeliveryState state) {
  switch (state) {
    case DeliveryState::kPending: return "PENDING";
    case DeliveryState::kDelivered: return "DELIVERED";
    case DeliveryState::kGivenUp: return "GIVEN_UP";
  }
  return "UNKNOWN";
}

Result<DeliveryState> ParseDeliveryState(std::string_view text) {
  for (const DeliveryState state :
       {DeliveryState::kPending, DeliveryState::kDelivered, DeliveryState::kGivenUp}) {
    if (Name(state) == text) return state;
  }
  return {ErrorCode::kInvalid,
          fmt::format("'{}' is not one of PENDING, DELIVERED, GIVEN_UP", text.substr(0, 64))};
}

std::optional<WallTime> NextDelivery(int attempts, WallTime asked, WallTime now) {
  if (now - asked >= kDeliveryTriedFor) return std::nullopt;
  Duration wait = kFirstRetry;
  for (int i = 1; i < attempts && wait < kLongestRetry; ++i) wait *= kRetryFactor;
  return now + std::min(wait, kLongestRetry);
}

}  // namespace carillon
