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

Result<std::string> FillSecretText(const SecretText& pieces, const SecretValues& values,
                                   const std::function<std::string(std::string_view)>& escape) {
  std::string filled;
  for (const SecretPiece& piece : pieces) {
    if (piece.secret.empty()) {
      filled += piece.text;
    } else {
      const auto found = values.find(piece.secret);
      if (found == values.end()) return {ErrorCode::kNotFound, "unknown secret " + piece.secret};
      filled += escape ? escape(found->second) : found->second;
    }
    if (filled.size() > kFilledBytesMax) {
      return {ErrorCode::kExhausted,
              fmt::format("a text with secrets exceeds {} bytes", kFilledBytesMax)};
    }
  }
  return filled;
}

Result<std::map<std::string, std::string>> FillSecrets(const SecretVariables& variables,
                                                       const SecretValues& values) {
  std::map<std::string, std::string> filled;
  size_t left = kFilledBytesMax;
  for (const auto& [variable, pieces] : variables) {
    CARILLON_ASSIGN_OR_RETURN(std::string value, FillSecretText(pieces, values));
    if (value.size() > left) {
      return {ErrorCode::kExhausted,
              fmt::format("the variables with secrets exceed {} bytes in total", kFilledBytesMax)};
    }
    left -= value.size();
    filled[variable] = std::move(value);
  }
  return filled;
}

}  // namespace carillon
