// A variable's value with placeholders for secrets. Pure.
//
// Secrets never travel with the task: the task carries these pieces, and the values come with the
// reply to the claim. The value is a list of pieces, not one text with placeholders. So nothing in
// its literal text can be mistaken for a placeholder.
//
// Place    Steps 6 to 8 of docs/life-of-a-run.md.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

// Either literal text, or the name of the secret to insert.
struct SecretPiece {
  std::string text = {};
  std::string secret = {};

  bool operator==(const SecretPiece&) const = default;
};
using SecretText = std::vector<SecretPiece>;
// Keyed by the name of the variable.
using SecretVariables = std::map<std::string, SecretText>;
// Keyed by the name of the secret.
using SecretValues = std::map<std::string, std::string>;

// The syntax of a secret's name is that of a variable: [A-Za-z_][A-Za-z0-9_]{0,62}.
bool IsSecretName(std::string_view name);

// Bounds of a secret's value. A shorter value could be guessed, and masking it would also mask
// ordinary output.
inline constexpr size_t kSecretBytesMin = 8;
inline constexpr size_t kSecretBytesMax = 64u << 10;
// Maximum size of all secrets of one attempt together.
inline constexpr size_t kAttemptSecretBytesMax = 256u << 10;
// Maximum number of secrets of one job.
inline constexpr size_t kJobSecretsMax = 100;
// Maximum size of all variables of an attempt that contain secrets, with the secrets inserted.
inline constexpr size_t kFilledBytesMax = 1u << 20;
// Returns a sentence about the mistake in `value`, or an empty text. A valid value is UTF-8 without
// NUL, within the bounds above.
std::string SecretValueComplaint(std::string_view value);

std::set<std::string> SecretsIn(const SecretVariables& variables);

// The text with the values of its secrets, each passed through `escape` if there is one. Same
// errors as FillSecrets.
Result<std::string> FillSecretText(const SecretText& pieces, const SecretValues& values,
                                   const std::function<std::string(std::string_view)>& escape = {});
// kNotFound naming the first secret missing in `values`; kExhausted above kFilledBytesMax.
Result<std::map<std::string, std::string>> FillSecrets(const SecretVariables& variables,
                                                       const SecretValues& values);

}  // namespace carillon
