// Shares: whose jobs a user may act on besides his own, by their namespace and labels.
//
//   {"payroll", ""}             every job of the namespace payroll
//   {"default", "team = etl"}   those of the namespace default that the selector matches
//   {"*", "team = etl"}         those of every namespace that the selector matches
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/selector.h"

namespace carillon {

inline constexpr size_t kSharesMax = 32;
inline constexpr std::string_view kEveryNamespace = "*";

struct Share {
  std::string name_space;
  std::string selector = {};  // selector.h; empty = whatever the labels

  bool operator==(const Share&) const = default;
};

// kInvalid with the pointer of the first one that is wrong, "/shares/0/selector".
Status ValidateShares(const std::vector<Share>& shares);

// Of labels, where they are known: those of a job whose definition cannot be read are not.
using Labels = std::map<std::string, std::string>;

// Shares, ready to be asked. One whose selector cannot be read shares nothing.
class SharedJobs {
 public:
  SharedJobs() = default;
  explicit SharedJobs(std::vector<Share> shares);

  const std::vector<Share>& shares() const { return shares_; }
  bool empty() const { return shares_.empty(); }
  // `labels` null: not known, so that only a share without a selector counts.
  bool Cover(std::string_view name_space, const Labels* labels) const;
  // Some of its jobs, whichever.
  bool CoverSomeOf(std::string_view name_space) const;

 private:
  std::vector<Share> shares_;
  std::vector<Selector> selectors_;  // one of each
};

}  // namespace carillon
