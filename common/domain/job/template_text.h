// The grammar of {{placeholders}} that all templates share: those of jobs (template.h) and those of
// the nodes of workflows. Pure. Defined in template.cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

// Callbacks of ScanTemplate: for literal text, and for the name of a placeholder without the blanks
// around it.
using TemplateTextFn = std::function<void(std::string_view text)>;
using TemplateNameFn = std::function<Status(std::string_view name)>;

// Splits `text` into literal text and names of placeholders, in order; {{{{ is the literal text {{.
// kInvalid: a placeholder is not closed, or the error of `on_name`.
Status ScanTemplate(std::string_view text, const TemplateTextFn& on_text,
                    const TemplateNameFn& on_name);

// kInvalid, "template: " and the reason.
Error TemplateError(std::string why);

}  // namespace carillon
