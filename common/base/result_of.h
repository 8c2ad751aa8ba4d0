// ResultOf<T, E, Of>: a value, or an error in the form E that a program shows to its users.
//
// Always   An Error converts to an E by `Of`, so CARILLON_TRY and CARILLON_ASSIGN_OR_RETURN accept
//          a Result, too.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "common/base/result.h"

namespace carillon {

template <typename T, typename E, E (*Of)(const Error&)>
class [[nodiscard]] ResultOf {
 public:
  ResultOf(T value) : expected_(std::move(value)) {}                           // NOLINT
  ResultOf(E error) : expected_(tl::make_unexpected(std::move(error))) {}      // NOLINT
  ResultOf(const Error& error) : expected_(tl::make_unexpected(Of(error))) {}  // NOLINT

  bool ok() const { return expected_.has_value(); }
  T& value() & { return expected_.value(); }
  const T& value() const& { return expected_.value(); }
  T&& value() && { return std::move(expected_).value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const E& error() const { return expected_.error(); }
  E& error() { return expected_.error(); }

 private:
  tl::expected<T, E> expected_;
};

}  // namespace carillon
