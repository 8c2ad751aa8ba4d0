#include "common/domain/features.h"

#include <array>

#include "common/domain/enum_names.h"

namespace carillon {
namespace {

constexpr std::array<NameOf<Feature>, 21> kFeatures{
    {{Feature::kSecrets, "secrets"},
     {Feature::kScriptSh, "script:sh"},
     {Feature::kScriptBash, "script:bash"},
     {Feature::kScriptPython3, "script:python3"},
     {Feature::kScriptPerl, "script:perl"},
     {Feature::kScriptNode, "script:node"},
     {Feature::kScriptPhp, "script:php"},
     {Feature::kScriptPwsh, "script:pwsh"},
     {Feature::kHttp, "http"},
     {Feature::kHttpExtended, "http:extended"},
     {Feature::kLimits, "limits"},
     {Feature::kMemoryLimit, "limits:memory"},
     {Feature::kCpuLimit, "limits:cpu"},
     {Feature::kPidsLimit, "limits:pids"},
     {Feature::kRunAs, "run_as"},
     {Feature::kWorkingDirectory, "working_directory"},
     {Feature::kOutputEncoding, "output_encoding"},
     {Feature::kCheckpoints, "checkpoints"},
     {Feature::kContainer, "container"},
     {Feature::kErrorCodes, "error_codes"},
     {Feature::kShards, "shards"}}};

}  // namespace

std::string_view Name(Feature feature) { return NameIn(kFeatures, feature); }

Features Features::FromBits(uint64_t bits) {
  Features known;
  for (const auto& row : kFeatures) {
    if ((bits & BitOf(row.value)) != 0) known.Add(row.value);
  }
  return known;
}

std::vector<std::string_view> Features::Names() const {
  std::vector<std::string_view> names;
  for (const auto& row : kFeatures) {
    if (Has(row.value)) names.push_back(row.name);
  }
  return names;
}

}  // namespace carillon
