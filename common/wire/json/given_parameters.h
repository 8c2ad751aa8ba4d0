// The parameters that are stored with a run, with the names of those whose text comes from outside:
// from outputs of other runs or from events. Such text must not become part of a command.
//
//   {"path": "/data/x", "day": "2026-03-01", "$untrusted": ["path"]}
#pragma once

#include <string>
#include <string_view>

#include "common/domain/workflow/node_template.h"

namespace carillon {

// The member with these names. No name of a parameter, so that nobody can give one.
inline constexpr const char* kUntrustedNames = "$untrusted";

// "" means no parameters. kInvalid as ParametersFromText.
Result<RenderedParameters> GivenFromText(std::string_view text);
// "" for no parameters.
std::string GivenToText(const RenderedParameters& given);

}  // namespace carillon
