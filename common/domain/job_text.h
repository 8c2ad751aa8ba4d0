// Checks on the texts of a job: names of variables, UTF-8, JSON pointers. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace carillon {

// The number of code points; nullopt if `text` is not valid UTF-8 (overlong forms, surrogates and
// code points above U+10FFFF are invalid).
std::optional<size_t> CountUtf8(std::string_view text);

// Text that the store and a process can carry: UTF-8 without NUL, of at most `bytes_max` bytes.
// Returns "" or its fault, as in "contains a NUL byte".
std::string TextFault(std::string_view text, size_t bytes_max);

// True if the UTF-8 `text` has only spaces (of any width) and other invisible characters.
bool IsBlank(std::string_view text);

// True if the UTF-8 `text` contains characters that change the direction of adjacent text.
bool HasDirectionOverride(std::string_view text);

// True for [A-Za-z_][A-Za-z0-9_]{0,62}, the names of parameters and environment variables.
bool IsVariableName(std::string_view text);

// True for variables that Carillon sets itself, so that a job's `env` may not set them. Other names
// with the prefix CARILLON_ are allowed, because a job may call the `carillon` command.
bool IsReservedVariable(std::string_view name);

bool IsControl(char c);
std::string AsciiUpper(std::string_view text);

// Escapes one token of a JSON pointer (RFC 6901): ~ becomes ~0, / becomes ~1.
std::string EscapePointer(std::string_view token);

}  // namespace carillon
