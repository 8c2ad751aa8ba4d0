// The conditions of a WHERE clause, with the values of their placeholders.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "common/adapters/mysql/client/session.h"

namespace carillon::mysql {

class Conditions {
 public:
  void Add(std::string_view condition, std::initializer_list<Param> values = {}) {
    text_ += " AND ";
    text_ += condition;
    params_.insert(params_.end(), values.begin(), values.end());
  }
  // Adds the condition that `column` equals one of `values`.
  void AddAnyOf(std::string_view column, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) {
      list += list.empty() ? "?" : ", ?";
      params_.push_back(value);
    }
    text_ += " AND " + std::string(column) + " IN (" + list + ")";
  }
  void Add(const Conditions& other) {
    if (other.empty()) return;
    text_ += " AND " + other.text_;
    params_.insert(params_.end(), other.params_.begin(), other.params_.end());
  }

  // Joins conditions by OR. Call either Or or the methods above on one object, never both.
  void Or(std::string_view condition, std::initializer_list<Param> values) {
    if (empty()) text_ = "(1 = 0)";
    text_.insert(text_.size() - 1, " OR ");
    text_.insert(text_.size() - 1, condition);
    params_.insert(params_.end(), values.begin(), values.end());
  }

  bool empty() const { return text_.size() == kTrue.size(); }
  const std::string& text() const { return text_; }  // "1 = 1" if there are no conditions
  const Params& params() const { return params_; }

 private:
  static constexpr std::string_view kTrue = "1 = 1";
  std::string text_{kTrue};
  Params params_;
};

}  // namespace carillon::mysql
