// libFuzzer: templates of a command, and placeholders of local dates, with the checks of
// fire_date_check.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "common/domain/template/template.h"
#include "tests/fuzz/fire_date_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = carillon::test::CheckFireDateText(text);
  if (!check.complaint.empty()) {
    std::fprintf(stderr, "template_fuzz: %s\n", check.complaint.c_str());
    std::abort();
  }
  carillon::JobDefinition job;
  job.name = "job";
  job.command = std::string(text);
  const bool valid = carillon::ValidateTemplates(job).ok();
  const auto rendered = carillon::RenderAttempt(job, {});
  // Parameters may be missing, and a date may leave the zones' table.
  if (rendered.ok() && !valid) {
    std::fprintf(stderr, "template_fuzz: rendered, but refused when it was written\n");
    std::abort();
  }
  return 0;
}
