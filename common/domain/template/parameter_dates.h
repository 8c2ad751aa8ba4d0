// Local dates of the fire in values of parameters, such as {{fire_date - 1d}} for a handler. Pure.
//
// Place    The scheduler fills them when it makes the task of an attempt.
// Always   All other text stays as it is, other braces too: the value of a parameter is no
//          template. Text from outside is never filled.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "common/domain/template/template.h"

namespace carillon {

bool HasDates(const Parameters& parameters);
// kInvalid: a date that is written wrongly. The pointer is `pointer` and the name.
Status CheckDates(const Parameters& parameters, const std::string& pointer);
// `outside`: the names of parameters whose text comes from outside. kInvalid as FormatFireDate.
Result<Parameters> FillDates(Parameters parameters, const std::set<std::string>& outside,
                             WallTime fire, std::string_view zone);

}  // namespace carillon
