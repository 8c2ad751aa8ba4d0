// libFuzzer: a job in the form of a POST request. An accepted job must survive the
// store's text unchanged.
#include <cstdint>
#include <cstdlib>

#include "common/wire/json/job/job_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto job =
      carillon::ParseJobText(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!job.ok()) return 0;
  const auto again = carillon::DefinitionFromText(carillon::DefinitionToText(job->definition),
                                                  carillon::JobId(job->job_id));
  if (!again.ok() || *again != job->definition) std::abort();
  return 0;
}
