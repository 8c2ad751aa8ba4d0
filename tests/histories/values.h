// Prints any value of a port, for traces and for the text of a difference.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/calendar/calendar_set.h"
#include "common/domain/run_id.h"
#include "common/ports/store/idempotency_store.h"
#include "tests/histories/fields.h"

namespace carillon::test {

template <typename T, template <typename...> typename Kind>
inline constexpr bool kIsOf = false;
template <template <typename...> typename Kind, typename... Args>
inline constexpr bool kIsOf<Kind<Args...>, Kind> = true;

template <typename T>
concept IsId = requires(const T& id) {
  id.value();
}
&&!kIsOf<T, std::optional>;
template <typename T>
concept IsSequence = kIsOf<T, std::vector> || kIsOf<T, std::set> || kIsOf<T, std::map>;

template <typename T>
std::string Text(const T& value);

template <typename T>
std::string TextOfFields(T& value) {
  std::string text;
  [&]<size_t... I>(std::index_sequence<I...>) {
    const auto tied = fields::TieFields(value);
    const auto add = [&](std::string_view name, const std::string& field) {
      if (field.empty() || field == "0" || field == "-") return;  // keeps the text short
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, field);
    };
    (add(fields::NameOfField<std::remove_const_t<T>, I>(), Text(std::get<I>(tied))), ...);
  }
  (std::make_index_sequence<fields::CountFields<std::remove_const_t<T>>()>());
  return "{" + text + "}";
}

template <typename T>
std::string Text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_enum_v<T>) {
    if constexpr (requires { Name(value); }) return std::string(Name(value));
    return fmt::format("#{}", static_cast<int>(value));
  } else if constexpr (std::is_convertible_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, WallTime>) {
    if (value == WallTime{}) return "-";
    if (value > FromUnixMicros(253'402'300'799'000'000)) {
      return fmt::format("never-{}s", (kNever - value) / 1s);
    }
    return FormatRfc3339(value);
  } else if constexpr (std::is_same_v<T, Duration>) {
    return fmt::format("{}us", value.count());
  } else if constexpr (requires { value.time_since_epoch().count(); }) {
    return fmt::format("{}", value.time_since_epoch().count());
  } else if constexpr (std::is_same_v<T, RunKey>) {
    return fmt::format("{}/{}/{}", Text(value.fire), value.schedule_id.value(), value.shard);
  } else if constexpr (std::is_same_v<T, ClaimToken>) {
    return value.empty() ? "" : FormatClaimToken(value);
  } else if constexpr (std::is_same_v<T, CalendarSet>) {
    return fmt::format("version {}: {}", value.version(), Text(value.calendars()));
  } else if constexpr (IsId<T>) {
    return fmt::format("{}", value.value());
  } else if constexpr (kIsOf<T, std::optional>) {
    return value ? Text(*value) : "-";
  } else if constexpr (kIsOf<T, std::variant>) {
    return std::visit([](const auto& held) { return Text(held); }, value);
  } else if constexpr (kIsOf<T, std::pair>) {
    return Text(value.first) + "=" + Text(value.second);
  } else if constexpr (kIsOf<T, KeyedAnswer>) {
    return value.scope + " " + value.key;
  } else if constexpr (IsSequence<T>) {
    std::string text;
    for (const auto& one : value) text += (text.empty() ? "" : ", ") + Text(one);
    return "[" + text + "]";
  } else if constexpr (std::is_pointer_v<T>) {
    return "";
  } else if constexpr (std::is_aggregate_v<T>) {
    return TextOfFields(value);
  } else {
    return "(not shown)";
  }
}

}  // namespace carillon::test
