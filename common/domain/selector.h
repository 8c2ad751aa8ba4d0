// Selects executors or jobs by their labels.
//
//   "zone = a, disk in (ssd, nvme), !spare"   all three must match
//
//   name = value (or ==)    the label has this value
//   name != value           the label is absent or has another value
//   name in (a, b)          the label has one of these values
//   name notin (a, b)       the label is absent or has none of these values
//   name                    the label is present
//   !name                   the label is absent
//
// Names and values are written bare (anything but white space , ( ) = ! ") or in double quotes.
//
// Source   The label selectors of Kubernetes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

class Selector {
 public:
  static constexpr size_t kBytesMax = 1000;

  // An empty text selects everything. kInvalid with a sentence that names the position and
  // the mistake.
  static Result<Selector> Parse(std::string_view text);
  // Selects nothing.
  static Selector Nothing();

  bool empty() const { return requirements_.empty() && !nothing_; }  // selects everything
  bool Matches(const std::map<std::string, std::string>& labels) const;

 private:
  struct Requirement {
    std::string name;
    bool wanted = true;               // false: the requirement is negated
    bool any_value = false;           // the label is present
    std::vector<std::string> values;  // the label has one of these
  };
  friend class SelectorParser;

  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

}  // namespace carillon
