#include "common/domain/secret_text.h"

#include <fmt/format.h>

#include "common/domain/job_text.h"

namespace carillon {

bool IsSecretName(std::string_view name) { return IsVariableName(name); }

std::string SecretValueComplaint(std::string_view value) {
  if (value.size() < kSecretBytesMin) {
    return fmt::format("A secret must have at least {} bytes; a shorter one could not be masked.",
                       kSecretBytesMin);
  }
  if (value.size() > kSecretBytesMax) {
    return fmt::format("A secret must have at most {} bytes.", kSecretBytesMax);
  }
  // The value becomes an environment variable of a process.
  if (!CountUtf8(value) || value.find('\0') != std::string_view::npos) {
    return "A secret must be UTF-8 text without NUL; encode other bytes, e.g. as base64.";
  }
  return {};
}

std::set<std::string> SecretsIn(const SecretVariables& variables) {
  std::set<std::string> names;
  for (const auto& [variable, pieces] : variables) {
    for (const SecretPiece& piece : pieces) {
      if (!piece.secret.empty()) names.insert(piece.secret);
    }
  }
  return names;
}

Result<std::map<std::string, std::string>> FillSecrets(const SecretVariables& variables,
                                                       const SecretValues& values) {
  std::map<std::string, std::string> filled;
  size_t left = kFilledBytesMax;
  for (const auto& [variable, pieces] : variables) {
    std::string& value = filled[variable];
    for (const SecretPiece& piece : pieces) {
      const auto found = values.find(piece.secret);
      if (!piece.secret.empty() && found == values.end()) {
        return {ErrorCode::kNotFound, "unknown secret " + piece.secret};
      }
      const std::string& part = piece.secret.empty() ? piece.text : found->second;
      if (part.size() > left) {
        return {
            ErrorCode::kExhausted,
            fmt::format("the variables with secrets exceed {} bytes in total", kFilledBytesMax)};
      }
      left -= part.size();
      value += part;
    }
  }
  return filled;
}

}  // namespace carillon
