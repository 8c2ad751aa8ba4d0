// Parsers of the parts of a request that handlers need: body, query, preconditions.
//
// Errors   400 with the pointer of the wrong field, 415 for a body that is not JSON, 428 if the
//          required If-Match is absent.
#pragma once

#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/run/run.h"
#include "common/domain/selector.h"
#include "scheduler/api/http/problem.h"

namespace carillon::scheduler {

// Returns the JSON document of the body. With kOptional, an empty body is read as `{}`. NUL
// characters in names or texts are refused.
enum class Body { kRequired, kOptional };
Outcome<nlohmann::json> ReadJson(const HttpRequest& request, Body body);

// The same for an object that may have only the fields `known`.
Outcome<nlohmann::json> ReadObject(const HttpRequest& request, Body body,
                                   std::initializer_list<std::string_view> known);

inline constexpr size_t kReasonCharactersMax = 1000;
// A text field of at most `characters_max`. Empty if the field is absent or null.
Outcome<std::string> TextMember(const nlohmann::json& object, std::string_view name,
                                size_t characters_max);
// A true or false field. False if the field is absent or null.
Outcome<bool> FlagMember(const nlohmann::json& object, std::string_view name);
// The field `mode` of a cancel. Graceful if the field is absent or null.
Outcome<CancelMode> CancelModeMember(const nlohmann::json& object);
// A field with a whole number in [low, high]. nullopt if the field is absent.
struct Bounds {
  int64_t low;
  int64_t high;
};
Outcome<std::optional<int64_t>> NumberMember(const nlohmann::json& object, std::string_view name,
                                             Bounds bounds);

inline constexpr size_t kRepeatedMax = 50;  // how often one query parameter may appear

// The query of a request. Unknown parameters are refused, so that a misspelt filter is not ignored.
class Query {
 public:
  // Each parameter of `single` may appear once, and each of `repeated` up to `repeated_max` times.
  static Outcome<Query> Read(const HttpRequest& request,
                             std::initializer_list<std::string_view> single,
                             std::initializer_list<std::string_view> repeated = {},
                             size_t repeated_max = kRepeatedMax);

  std::optional<std::string> Text(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;
  Outcome<std::optional<WallTime>> Time(std::string_view name) const;
  Outcome<std::optional<int64_t>> Number(std::string_view name, Bounds bounds) const;
  Outcome<bool> Flag(std::string_view name) const;  // true or false; false when absent
  // Returns all parameters except page_size and page_token, in a fixed order. A page token is valid
  // only with the filter for which it was issued.
  std::string Filter() const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// Parses the `job_id` by which a list is filtered; 400 if it is not valid.
Outcome<JobId> FilterJobId(const std::string& text);

// 400: the value at `pointer` is not a valid namespace.
Problem BadNamespace(const std::string& pointer);

// The parameter `selector`, a filter by labels. nullopt if it is absent. An empty selector is
// refused, because it would select everything.
Outcome<std::optional<Selector>> ReadSelector(const Query& query);

// The parameters `label=name:value`. For each name, one of its values must match.
using LabelFilter = std::map<std::string, std::vector<std::string>>;
Outcome<LabelFilter> ReadLabelFilter(const Query& query);

// The tags of an If-Match or If-None-Match header (RFC 9110).
struct EntityTags {
  bool any = false;                      // "*"
  std::vector<std::string> strong = {};  // with their quotes
  std::vector<std::string> weak = {};    // with their quotes, without W/

  // The comparison for If-Match: weak tags never match.
  bool MatchesStrongly(std::string_view tag) const;
  // The comparison for If-None-Match: weak tags match too.
  bool MatchesWeakly(std::string_view tag) const;
};
// Parses all headers with this lower-case name as one list of ETags; nullopt if malformed.
std::optional<EntityTags> ReadTags(const HttpRequest& request, std::string_view header);

// The required If-Match: 428 without it, 400 bad_if_match if malformed.
Outcome<EntityTags> RequireIfMatch(const HttpRequest& request);
std::string VersionTag(int64_t version);

inline constexpr int kAnyVersionTries = 10;
// Calls `write`, which reads an object, compares its version with `wanted` and changes it. Any
// version matches "*", so a change of another request in between is no reason for its 412: `write`
// is called again.
template <typename Write>
Reply WriteMatching(const EntityTags& wanted, const Write& write) {
  Reply reply = write();
  for (int tries = 1; wanted.any && tries < kAnyVersionTries; ++tries) {
    if (reply.ok() || reply.error().status != 412) break;
    reply = write();
  }
  return reply;
}

}  // namespace carillon::scheduler
