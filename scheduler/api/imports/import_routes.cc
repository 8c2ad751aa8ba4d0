#include "scheduler/api/imports/import_routes.h"

#include <nlohmann/json.hpp>

#include "common/domain/schedule/zone.h"
#include "common/imports/import_result.h"
#include "common/yaml/yaml.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kZoneCharactersMax = 64;
constexpr size_t kPrefixCharactersMax = 40;

Outcome<ImportOptions> ReadImportOptions(ImportKind kind, const json& body) {
  ImportOptions options;
  CARILLON_ASSIGN_OR_RETURN(options.time_zone, TextMember(body, "time_zone", kZoneCharactersMax));
  if (options.time_zone.empty()) {
    return InvalidField("/time_zone", "missing", "Must be the time zone of the other server.");
  }
  if (const auto zone = Zone::Load(options.time_zone); !zone.ok()) {
    return InvalidField("/time_zone", "invalid", zone.error().message + ".");
  }
  CARILLON_ASSIGN_OR_RETURN(options.id_prefix, TextMember(body, "prefix", kPrefixCharactersMax));
  if (!options.id_prefix.empty()) {
    const Status valid = ValidateJobId(options.id_prefix);
    if (!valid.ok()) return InvalidField("/prefix", "invalid", "It " + valid.error().message + ".");
  }
  CARILLON_ASSIGN_OR_RETURN(options.system, FlagMember(body, "system"));
  if (options.system && kind != ImportKind::kCrontab) {
    return InvalidField("/system", "invalid", "Only a crontab can be that of the system.");
  }
  return options;
}

Problem NoSource(const Error& error) {
  return InvalidField("/text", "invalid", "It cannot be imported: " + error.message + ".");
}

}  // namespace

Reply ImportText(const Call& call) {
  const auto kind = ParseImportKind(call.arguments.at(0));
  if (!kind.ok()) return NotFound("The kind of an import " + kind.error().message + ".");
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired,
                                                        {"text", "time_zone", "prefix", "system"}));
  CARILLON_ASSIGN_OR_RETURN(const ImportOptions options, ReadImportOptions(*kind, body));
  const auto text = body.find("text");
  if (text == body.end() || !text->is_string() || text->get_ref<const std::string&>().empty()) {
    return InvalidField("/text", "missing", "Must be the text to import.");
  }
  std::vector<ImportFile> files(1);
  files[0].text = *text;
  if (ReadsDocuments(*kind)) {
    auto documents = ReadYamlDocuments(files[0].text, "text");
    if (!documents.ok()) return NoSource(documents.error());
    for (YamlDocument& one : *documents) files[0].documents.push_back(std::move(one.value));
  }
  const auto result = ImportJobs(*kind, files, options);
  if (!result.ok()) return NoSource(result.error());
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  return JsonResponse(200, ImportToJson(*result, now));
}

}  // namespace carillon::scheduler
