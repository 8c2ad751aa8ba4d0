// The texts of a job's definition that may have placeholders. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/job/job.h"

namespace carillon {

// kTotal: the number of the fire's parts.
enum class TemplatePlace { kCommand, kVariable, kUrl, kPlain, kTotal };

struct JobTemplate {
  std::string_view text;  // of the definition
  TemplatePlace place = TemplatePlace::kCommand;
  std::string pointer = {};
};
// In the order in which their errors are reported. Without the parameters of a workflow's nodes.
std::vector<JobTemplate> TemplatesOf(const JobDefinition& job);

// kInvalid: a text of kTotal that becomes a whole number at no fire.
Status CheckTotal(const JobDefinition& job, std::string_view text);

// True if a text of the job, or of a node or its task, has the local date of the fire, or a node
// waits for a time of day.
bool UsesFireDate(const JobDefinition& job);

}  // namespace carillon
