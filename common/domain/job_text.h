// Limits on the texts of a job: names of variables, UTF-8, JSON pointers. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace carillon {

// The number of code points, or nullopt where `text` is not UTF-8 (overlong forms, surrogates and
// code points above U+10FFFF included).
std::optional<size_t> CountUtf8(std::string_view text);

// True when nothing of the UTF-8 `text` can be seen: spaces of any width, and characters of none.
bool IsBlank(std::string_view text);

// True when the UTF-8 `text` has characters that change the direction of what is shown beside it.
bool HasDirectionOverride(std::string_view text);

// [A-Za-z_][A-Za-z0-9_]{0,62}: parameters and environment variables.
bool IsVariableName(std::string_view text);

// Variables that Carillon sets itself: a job's own `env` may not name them. Others that begin with
// CARILLON_ are free: a job may well call the `carillon` command.
bool IsReservedVariable(std::string_view name);

bool IsControl(char c);
std::string AsciiUpper(std::string_view text);

// One token of a JSON pointer (RFC 6901): ~ becomes ~0, / becomes ~1.
std::string EscapePointer(std::string_view token);

}  // namespace carillon
