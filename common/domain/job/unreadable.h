// The sentence that says why the stored definition of a job cannot be read, and what to do.
#pragma once

#include <string>
#include <string_view>

#include "common/base/ids.h"

namespace carillon {

inline std::string UnreadableSentence(const JobId& id, int64_t version, std::string_view detail) {
  return "The definition of job " + id.value() + " (version " + std::to_string(version) +
         ") cannot be read: " + std::string(detail) + ". Replace it, or delete the job.";
}

}  // namespace carillon
