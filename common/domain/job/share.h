// Shares: jobs that a user may access besides their own, selected by namespace and labels.
//
//   {"payroll", ""}             every job of the namespace payroll
//   {"default", "team = etl"}   jobs of the namespace default that match the selector
//   {"*", "team = etl"}         jobs of every namespace that match the selector
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
  std::string selector = {};  // selector.h; empty = any labels

  bool operator==(const Share&) const = default;
};

// kInvalid with the pointer of the first invalid share, e.g. "/shares/0/selector".
Status ValidateShares(const std::vector<Share>& shares);

// The labels of a job.
using Labels = std::map<std::string, std::string>;

// Compiled shares. A share whose selector is invalid grants nothing.
class SharedJobs {
 public:
  SharedJobs() = default;
  explicit SharedJobs(std::vector<Share> shares);

  const std::vector<Share>& shares() const { return shares_; }
  bool empty() const { return shares_.empty(); }
  // `labels` is null if the job's definition cannot be read, so that its labels are unknown. Then
  // only shares without a selector apply.
  bool Cover(std::string_view name_space, const Labels* labels) const;
  // True if at least one job of the namespace may be covered.
  bool CoverSomeOf(std::string_view name_space) const;

 private:
  std::vector<Share> shares_;
  std::vector<Selector> selectors_;  // parallel to shares_
};

}  // namespace carillon
