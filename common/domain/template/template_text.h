// The grammar of {{placeholders}} that all templates share: those of jobs (template.h) and those of
// the nodes of workflows. Pure. Defined in template.cc.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/template/template.h"

namespace carillon {

inline constexpr std::string_view kParameterPrefix = "params.";
inline constexpr std::string_view kEnvPrefix = "env.";
inline constexpr size_t kPlaceholderShownMax = 80;  // characters of its text in an error

// Callbacks of ScanTemplate: for literal text, and for the name of a placeholder without the blanks
// around it.
using TemplateTextFn = std::function<void(std::string_view text)>;
using TemplateNameFn = std::function<Status(std::string_view name)>;

// For ScanTemplate, if only the placeholders matter.
inline constexpr auto kSkipText = [](std::string_view) {};

// Splits `text` into literal text and names of placeholders, in order; {{{{ is the literal text {{.
// The pair of braces that closes it may be doubled too: {{{{a}} and {{{{a}}}} are both {{a}}.
// kInvalid: a placeholder is not closed, or the error of `on_name`.
Status ScanTemplate(std::string_view text, const TemplateTextFn& on_text,
                    const TemplateNameFn& on_name);

// The template that renders as `text`: for text from elsewhere, which has no placeholders.
std::string EscapeTemplate(std::string_view text);

// The values of the placeholders of one attempt, except {{env.…}} and {{secrets.…}}. `facts`
// outlives it.
class TemplateValues {
 public:
  explicit TemplateValues(const AttemptFacts& facts);
  // kInvalid: unknown, or without a value.
  Result<std::string> Find(std::string_view name) const;

 private:
  const std::map<std::string, std::string> built_ins_;
  const AttemptFacts& facts_;
};
// The name of the secret in the placeholder "secrets.NAME"; empty for others.
std::string_view SecretPlaceholder(std::string_view name);

// kInvalid, "template: " and the reason.
Error TemplateError(std::string why);

}  // namespace carillon
