// Converts cron expressions of Quartz, which XXL-JOB reads too, to those of Carillon. Pure.
//
// Always   The result is a valid expression with the same fires, apart from changes of the clock.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

struct QuartzCron {
  std::string expression;
  std::vector<std::string> remarks = {};  // parts that other tools read in another way
};

// kInvalid: Quartz refuses the text, or reads a part of it in a way that cannot be said here.
Result<QuartzCron> ConvertQuartzCron(std::string_view text);

}  // namespace carillon
