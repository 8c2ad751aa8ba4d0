#include "common/domain/trace.h"

#include <fmt/core.h>

#include "common/base/stable_hash.h"

namespace carillon {
namespace {

// 00-<32 hex>-<16 hex>-<2 hex>
constexpr std::string_view kVersion = "00-";
constexpr size_t kTraceDigits = 32;
constexpr size_t kSpanDigits = 16;
constexpr size_t kParentLength = 55;

bool IsLowerHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool IsSomething(std::string_view hex) {
  return hex.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

bool IsTraceId(std::string_view text) {
  return text.size() == kTraceDigits && IsLowerHex(text) && IsSomething(text);
}

std::optional<std::string> TraceIdOfParent(std::string_view traceparent) {
  if (traceparent.size() != kParentLength || !traceparent.starts_with(kVersion)) {
    return std::nullopt;
  }
  traceparent.remove_prefix(kVersion.size());
  const std::string_view trace = traceparent.substr(0, kTraceDigits);
  const std::string_view span = traceparent.substr(kTraceDigits + 1, kSpanDigits);
  const std::string_view flags = traceparent.substr(kTraceDigits + 1 + kSpanDigits + 1);
  const bool separated =
      traceparent[kTraceDigits] == '-' && traceparent[kTraceDigits + 1 + kSpanDigits] == '-';
  const bool good =
      separated && IsTraceId(trace) && IsLowerHex(span) && IsSomething(span) && IsLowerHex(flags);
  return good ? std::optional(std::string(trace)) : std::nullopt;
}

std::string TraceIdOf(const RunKey& key) {
  const auto fire = static_cast<uint64_t>(ToUnixMicros(key.fire));
  return fmt::format("{:014x}{:013x}{:05x}", fire, key.schedule_id.value(), key.shard);
}

std::string TraceIdOf(const RunKey& key, const std::string& given) {
  return given.empty() ? TraceIdOf(key) : given;
}

std::string TraceParentOf(const std::string& trace_id, const RunKey& key, int attempt) {
  const uint64_t span = StableHash(fmt::format("{} {}", EncodeRunId(key), attempt));
  return fmt::format("00-{}-{:016x}-01", trace_id, span == 0 ? 1 : span);
}

}  // namespace carillon
