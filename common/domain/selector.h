// Selects executors or jobs by their labels.
//
//   "zone = a, disk in (ssd, nvme), !spare"   all three must hold
//
//   name = value (or ==)    has the label with this value
//   name != value           has it not, or with another value
//   name in (a, b)          has it with one of these
//   name notin (a, b)       has it not, or with none of these
//   name        !name       has it, whatever its value; has it not
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

  // The empty text selects everything. kInvalid with a sentence that says where and what.
  static Result<Selector> Parse(std::string_view text);
  // Selects nothing.
  static Selector Nothing();

  bool empty() const { return requirements_.empty() && !nothing_; }  // no condition
  bool Matches(const std::map<std::string, std::string>& labels) const;

 private:
  struct Requirement {
    std::string name;
    bool wanted = true;               // false: those that the rest does not describe
    bool any_value = false;           // the label is there
    std::vector<std::string> values;  // one of these
  };
  friend class SelectorParser;

  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

}  // namespace carillon
