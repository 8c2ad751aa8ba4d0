#include "scheduler/api/jobs/version_routes.h"

#include <fmt/core.h>

#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/job/job_json.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/edits/job_edit.h"
#include "scheduler/api/http/page.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// The changed fields; null if either definition cannot be decoded or is no longer stored.
json Changes(const std::optional<JobDefinition>& from, const std::optional<JobDefinition>& to) {
  if (!from || !to) return nullptr;
  const json before = DefinitionToJson(*from);
  const json after = DefinitionToJson(*to);
  json changes = json::array();
  // A field such as `script` is left out where it is not set.
  for (const auto& [field, value] : after.items()) {
    const json earlier = before.value(field, json(nullptr));
    if (earlier != value)
      changes.push_back({{"field", field}, {"before", earlier}, {"after", value}});
  }
  for (const auto& [field, value] : before.items()) {
    if (!after.contains(field))
      changes.push_back({{"field", field}, {"before", value}, {"after", nullptr}});
  }
  return changes;
}

json VersionToJson(const JobVersion& version) {
  return {{"version", version.version},
          {"actor", version.actor},
          {"create_time", FormatRfc3339(version.created)},
          {"readable", version.definition.has_value()}};
}

Problem NoSuchVersion(int64_t version) {
  return NotFound(fmt::format(
      "Version {} of this job does not exist or is no longer kept. GET .../versions lists them.",
      version));
}

Outcome<JobVersion> ReadVersion(const Call& call, const JobId& id, int64_t version) {
  CARILLON_ASSIGN_OR_RETURN(auto found, call.stores.jobs.ListVersions(id, version + 1, 1));
  if (found.empty() || found[0].version != version) return NoSuchVersion(version);
  return std::move(found[0]);
}

Problem UnreadableVersion(int64_t version) {
  return {.status = 409,
          .code = "conflict",
          .detail = fmt::format("The stored version {} cannot be read.", version)};
}

// A revert keeps the owner and the namespace of the job, and whether the job is enabled.
Outcome<JobDefinition> DefinitionToRevertTo(const JobVersion& version, const JobBase& base) {
  if (!version.definition) return UnreadableVersion(version.version);
  JobDefinition definition = *version.definition;
  definition.enabled = base.job.definition.enabled;
  definition.user_id = base.job.definition.user_id;
  definition.name_space = base.job.definition.name_space;
  const Status valid = ValidateJob(definition);
  if (valid.ok()) return definition;
  return Problem{
      .status = 409,
      .code = "conflict",
      .detail = fmt::format("Version {} does not meet the current rules: {} {}.", version.version,
                            valid.error().pointer, valid.error().message)};
}

}  // namespace

Reply ListJobVersions(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "versions/" + id.value()));
  int64_t before = INT64_MAX;
  if (!page.cursor().empty()) {
    const auto cursor = ParseCursor(page.cursor());
    if (!cursor || *cursor > static_cast<uint64_t>(INT64_MAX)) return BadPageToken();
    before = static_cast<int64_t>(*cursor);
  }
  // Reads one version more than is shown, because each one is compared with the version before it.
  CARILLON_ASSIGN_OR_RETURN(const auto versions,
                            call.stores.jobs.ListVersions(id, before, page.size() + 1));
  for (size_t i = 0; i < versions.size() && i < page.size(); ++i) {
    json item = VersionToJson(versions[i]);
    const bool follows =
        i + 1 < versions.size() && versions[i + 1].version + 1 == versions[i].version;
    item["changes"] =
        follows ? Changes(versions[i + 1].definition, versions[i].definition) : json(nullptr);
    if (!page.Add(item, std::to_string(versions[i].version))) break;
  }
  return page.Finish(versions.size() > page.size(),
                     [&] { return call.stores.jobs.CountVersions(id); });
}

Reply GetJobVersion(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {"against"}));
  CARILLON_ASSIGN_OR_RETURN(const auto against,
                            query.Number("against", {.low = 1, .high = INT64_MAX - 1}));
  const auto wanted = ParseCursor(call.arguments.at(1));
  if (!wanted || *wanted == 0 || *wanted >= static_cast<uint64_t>(INT64_MAX)) {
    return NotFound("A version is a whole number from 1. GET .../versions lists them.");
  }
  const auto number = static_cast<int64_t>(*wanted);
  CARILLON_ASSIGN_OR_RETURN(const JobVersion version, ReadVersion(call, id, number));
  std::optional<JobDefinition> other;
  if (against) {
    CARILLON_ASSIGN_OR_RETURN(JobVersion compared, ReadVersion(call, id, *against));
    other = std::move(compared.definition);
  } else if (number > 1) {
    CARILLON_ASSIGN_OR_RETURN(auto previous, call.stores.jobs.ListVersions(id, number, 1));
    const bool kept = !previous.empty() && previous[0].version + 1 == number;
    if (kept) other = std::move(previous[0].definition);
  }
  json body = VersionToJson(version);
  body["job_id"] = id.value();
  body["definition"] = version.definition ? DefinitionToJson(*version.definition) : json(nullptr);
  body["changes"] = Changes(other, version.definition);
  return JsonResponse(200, body);
}

Reply RevertJob(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const EntityTags wanted, RequireIfMatch(call.request));
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired, {"version", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));  // for the audit
  CARILLON_ASSIGN_OR_RETURN(const auto number,
                            NumberMember(body, "version", {.low = 1, .high = INT64_MAX - 1}));
  if (!number) return InvalidField("/version", "missing", "The version to revert to is required.");
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  return WriteMatching(wanted, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const JobBase base, ReadAtVersion(call, id, wanted, now));
    CARILLON_ASSIGN_OR_RETURN(const JobVersion version, ReadVersion(call, id, *number));
    CARILLON_ASSIGN_OR_RETURN(const JobDefinition definition, DefinitionToRevertTo(version, base));
    return WriteDefinition(call, base, definition, now);
  });
}

}  // namespace carillon::scheduler
