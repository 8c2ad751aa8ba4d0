// A variable's value with places that secrets go into. Pure.
//
// Secrets never travel with the task: it carries these pieces, and the
// values come with the answer to the claim. As pieces and not as text,
// so that nothing else of the value is ever read as a placeholder.
//
// Place    Steps 6 to 8 of docs/life-of-a-run.md.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

// Either text as it is, or the name of the secret that goes here.
struct SecretPiece {
  std::string text = {};
  std::string secret = {};

  bool operator==(const SecretPiece&) const = default;
};
using SecretText = std::vector<SecretPiece>;
// By the name of the variable.
using SecretVariables = std::map<std::string, SecretText>;
// By the name of the secret.
using SecretValues = std::map<std::string, std::string>;

// A secret's name is a variable's: [A-Za-z_][A-Za-z0-9_]{0,62}.
bool IsSecretName(std::string_view name);

// Of a secret's value. A shorter one could not be masked without masking ordinary output, and is
// guessed at once.
inline constexpr size_t kSecretBytesMin = 8;
inline constexpr size_t kSecretBytesMax = 64u << 10;
// Of all secrets that one attempt gets.
inline constexpr size_t kAttemptSecretBytesMax = 256u << 10;
// Of one job.
inline constexpr size_t kJobSecretsMax = 100;
// Of all variables with secrets in them, once they are filled.
inline constexpr size_t kFilledBytesMax = 1u << 20;
// "" when it can be a value: UTF-8 without NUL of the length above; else what is wrong with it.
std::string SecretValueComplaint(std::string_view value);

std::set<std::string> SecretsIn(const SecretVariables& variables);

// kNotFound naming the first secret that `values` has not; kExhausted above kFilledBytesMax.
Result<std::map<std::string, std::string>> FillSecrets(const SecretVariables& variables,
                                                       const SecretValues& values);

}  // namespace carillon
