// Result<T>: a value or an Error. Every function of Carillon that can fail returns one.
//
// Errors   Never throws. Reading value() of an error aborts, because that is a bug.
// Always   [[nodiscard]]: ignoring a Result is a compile error.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "common/base/check.h"

namespace carillon {

// Classifies an error by what the caller should do; docs/errors.md has the table.
enum class ErrorCode {
  kInvalid,      // the request is wrong; never retry
  kNotFound,     // the named object does not exist
  kDenied,       // the caller has no permission
  kExists,       // the object was inserted before; for an idempotent insert the same as success
  kConflict,     // the state or version has changed: read again, decide again
  kFenced,       // the writer's epoch is over: drop the segment's state from memory
  kUnavailable,  // dependency not reachable, nothing was done: back off
  kTimeout,      // outcome unknown; after a commit: drop the state and read it again
  kExhausted,    // a named limit was reached: drop or defer the work, and count that
  kCorrupt,      // stored or received bytes are unreadable: quarantine, alert, continue
  // The store as a whole is broken, so the call would fail for every item: back off.
  kBrokenStore,
};

// Lower-case stable name, e.g. "not_found".
std::string_view ErrorCodeName(ErrorCode code);

// The reason of a failure.
struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  // Says what was tried, on which id, why it failed, and which setting would help.
  std::string message;
  // JSON pointer of the offending field, if there is one ("/schedules/0/cron_expression").
  std::string pointer = {};

  bool operator==(const Error&) const = default;
};

// An error of one field, kInvalid. `pointer`: see Error.
inline Error InvalidAt(std::string pointer, std::string message) {
  return {ErrorCode::kInvalid, std::move(message), std::move(pointer)};
}

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

// Assigns the value of a Result. If the Result is an error, returns the error from the function:
//   CARILLON_ASSIGN_OR_RETURN(auto job, store.GetJob(id));
#define CARILLON_ASSIGN_OR_RETURN(lhs, expr) \
  CARILLON_ASSIGN_OR_RETURN_IMPL(CARILLON_CONCAT(carillon_result_, __LINE__), lhs, expr)
// NOLINTBEGIN(bugprone-macro-parentheses): `lhs` may be a declaration, `tmp` is a name
#define CARILLON_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                                   \
  if (!tmp.ok()) return tmp.error();                   \
  lhs = std::move(tmp).value()
// NOLINTEND(bugprone-macro-parentheses)
