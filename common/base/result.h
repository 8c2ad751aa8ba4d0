// Result<T>: a value or an Error. The only way a function of Carillon reports failure.
//
// Errors   Never throws. Reading value() of an error aborts (a bug, not a condition).
// Always   [[nodiscard]]: an ignored Result does not compile.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "common/base/check.h"

namespace carillon {

// What a caller may do about an error; the table is in docs/errors.md.
enum class ErrorCode {
  kInvalid,      // the request is wrong; never retried
  kNotFound,     // names something that does not exist
  kDenied,       // the caller may not
  kExists,       // an idempotent insert lost; treat as done
  kConflict,     // state or version moved: re-read, decide again
  kFenced,       // our epoch is over: forget the segment's memory
  kUnavailable,  // dependency not reachable, nothing was done: back off
  kTimeout,      // outcome unknown; after a commit: forget and recover
  kExhausted,    // a named limit was hit: shed or leave for later, count it
  kCorrupt,      // stored or received bytes are unreadable: quarantine, alert, go on
  kBrokenStore,  // the store as a whole cannot do this, which says nothing of any item: back off
};

// Lower-case stable name, e.g. "not_found".
std::string_view ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  // What was tried, on which id, why, and the setting that would cure it.
  std::string message;
  // JSON pointer of the offending field where there is one ("/schedules/0/cron_expression").
  std::string pointer = {};

  bool operator==(const Error&) const = default;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : expected_(std::move(value)) {}  // NOLINT: implicit by design
  Result(Error error) : expected_(tl::make_unexpected(std::move(error))) {}  // NOLINT
  Result(ErrorCode code, std::string message)
      : expected_(tl::make_unexpected(Error{code, std::move(message)})) {}

  bool ok() const { return expected_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& value() & {
    CARILLON_CHECK(ok(), error().message);
    return *expected_;
  }
  const T& value() const& {
    CARILLON_CHECK(ok(), error().message);
    return *expected_;
  }
  T&& value() && {
    CARILLON_CHECK(ok(), error().message);
    return std::move(*expected_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { return expected_.error(); }
  ErrorCode code() const { return expected_.error().code; }
  T value_or(T fallback) const& { return ok() ? *expected_ : std::move(fallback); }

 private:
  tl::expected<T, Error> expected_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : expected_(tl::make_unexpected(std::move(error))) {}  // NOLINT
  Result(ErrorCode code, std::string message)
      : expected_(tl::make_unexpected(Error{code, std::move(message)})) {}

  bool ok() const { return expected_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return expected_.error(); }
  ErrorCode code() const { return expected_.error().code; }

 private:
  tl::expected<void, Error> expected_;
};

using Status = Result<void>;

}  // namespace carillon

#define CARILLON_CONCAT_INNER(a, b) a##b
#define CARILLON_CONCAT(a, b) CARILLON_CONCAT_INNER(a, b)

// Returns the error of `expr` from the enclosing function, if it has one.
#define CARILLON_TRY(expr)                                             \
  do {                                                                 \
    auto carillon_try_status = (expr);                                 \
    if (!carillon_try_status.ok()) return carillon_try_status.error(); \
  } while (false)

// `CARILLON_ASSIGN_OR_RETURN(auto job, store.GetJob(id));`
#define CARILLON_ASSIGN_OR_RETURN(lhs, expr) \
  CARILLON_ASSIGN_OR_RETURN_IMPL(CARILLON_CONCAT(carillon_result_, __LINE__), lhs, expr)
// NOLINTBEGIN(bugprone-macro-parentheses): `lhs` declares, `tmp` is a name
#define CARILLON_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                                   \
  if (!tmp.ok()) return tmp.error();                   \
  lhs = std::move(tmp).value()
// NOLINTEND(bugprone-macro-parentheses)
