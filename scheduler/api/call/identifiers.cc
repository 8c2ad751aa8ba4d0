#include "scheduler/api/call/identifiers.h"

#include <fmt/core.h>

#include "common/base/lower_case.h"
#include "common/domain/trace.h"
#include "scheduler/api/http/short_hash.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kSlugLengthMax = 48;  // characters; leaves room for the suffix of a job id
constexpr size_t kSuffixLength = 6;
constexpr std::string_view kSuffixAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

std::string Slug(std::string_view name) {
  std::string slug;
  for (const char c : LowerCase(name)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
    if (slug.size() >= kSlugLengthMax) break;
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "job" : slug;
}

std::string Suffix(uint64_t random) {
  std::string suffix;
  for (size_t i = 0; i < kSuffixLength; ++i) {
    suffix += kSuffixAlphabet[random % kSuffixAlphabet.size()];
    random /= kSuffixAlphabet.size();
  }
  return suffix;
}

}  // namespace

std::string Identifiers::TraceId(const HttpRequest& request) {
  const std::string* parent = request.Header("traceparent");
  if (parent != nullptr) {
    if (auto trace = TraceIdOfParent(*parent)) return *std::move(trace);
  }
  return fmt::format("{:016x}{:016x}", Next(), Next());
}

JobId Identifiers::NewJobId(std::string_view name) {
  return JobId(Slug(name) + "-" + Suffix(Next()));
}

JobId Identifiers::JobIdForKey(std::string_view name, std::string_view key) {
  return JobId(Slug(name) + "-" + Suffix(std::stoull(ShortHash(key), nullptr, 16)));
}

uint64_t Identifiers::Next() {
  const MutexLock lock(mu_);
  return rng_.Next();
}

}  // namespace carillon::scheduler
