#include "common/domain/job/share.h"

#include <fmt/core.h>

#include "common/domain/job/job.h"

namespace carillon {
namespace {

Error WrongShare(size_t index, std::string_view member, std::string why) {
  return {ErrorCode::kInvalid, std::move(why), fmt::format("/shares/{}/{}", index, member)};
}

Status ValidateShare(const Share& share, size_t index) {
  const bool every = share.name_space == kEveryNamespace;
  if (!every && !IsNamespace(share.name_space)) {
    return WrongShare(index, "namespace", std::string(kNamespaceRule) + ", or \"*\"");
  }
  if (every && share.selector.empty()) {
    return WrongShare(
        index, "selector",
        "is required with the namespace \"*\"; access to every job needs the role admin");
  }
  const auto selector = Selector::Parse(share.selector);
  if (!selector.ok()) return WrongShare(index, "selector", selector.error().message);
  // White space alone would silently select everything.
  if (!share.selector.empty() && selector->empty()) {
    return WrongShare(index, "selector", "has no condition; omit it to share jobs with any labels");
  }
  return {};
}

bool IsOf(const Share& share, std::string_view name_space) {
  return share.name_space == name_space || share.name_space == kEveryNamespace;
}

}  // namespace

Status ValidateShares(const std::vector<Share>& shares) {
  if (shares.size() > kSharesMax) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("has {} entries; at most {} are allowed", shares.size(), kSharesMax),
                 "/shares"};
  }
  for (size_t i = 0; i < shares.size(); ++i) CARILLON_TRY(ValidateShare(shares[i], i));
  return {};
}

SharedJobs::SharedJobs(std::vector<Share> shares) : shares_(std::move(shares)) {
  selectors_.reserve(shares_.size());
  for (const Share& share : shares_) {
    selectors_.push_back(Selector::Parse(share.selector).value_or(Selector::Nothing()));
  }
}

bool SharedJobs::Cover(std::string_view name_space, const Labels* labels) const {
  for (size_t i = 0; i < shares_.size(); ++i) {
    if (!IsOf(shares_[i], name_space)) continue;
    if (shares_[i].selector.empty()) return true;
    if (labels != nullptr && selectors_[i].Matches(*labels)) return true;
  }
  return false;
}

bool SharedJobs::CoverSomeOf(std::string_view name_space) const {
  for (const Share& share : shares_) {
    if (IsOf(share, name_space)) return true;
  }
  return false;
}

}  // namespace carillon
