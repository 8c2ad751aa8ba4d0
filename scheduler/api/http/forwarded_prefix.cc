#include "scheduler/api/http/forwarded_prefix.h"

#include <algorithm>

namespace carillon::scheduler {
namespace {

constexpr size_t kPrefixLengthMax = 256;  // bytes

bool IsPrefixCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~' || c == '/';
}

}  // namespace

std::string PrefixOf(const HttpRequest& request) {
  const std::string* header = request.Header("x-forwarded-prefix");
  if (header == nullptr || header->size() > kPrefixLengthMax) return "/";
  std::string prefix = *header;
  if (!prefix.ends_with('/')) prefix += '/';
  const bool plain = prefix.starts_with('/') && prefix.find("//") == std::string::npos &&
                     prefix.find("/./") == std::string::npos &&
                     prefix.find("/../") == std::string::npos &&
                     std::all_of(prefix.begin(), prefix.end(), IsPrefixCharacter);
  return plain ? prefix : "/";
}

std::string BelowPrefix(const HttpRequest& request, const std::string& path) {
  return PrefixOf(request) + path.substr(1);
}

}  // namespace carillon::scheduler
