// Further forms in which a process may print the value of a secret. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace carillon::executor {

// As a shell quotes it, if that is another form: '\'' and '"'"' for each single quote.
std::vector<std::string> ShellForms(std::string_view value);

// As HTML and XML have it, if that is another form: with entities for & < > and, in some of the
// forms, for quotes.
std::vector<std::string> HtmlForms(std::string_view value);

// What is the same in each base64 text that contains the value, for the three places at which it
// can begin there: the value by itself, or behind "user:". Standard and URL-safe. And its base64
// in lines of 76 characters.
std::vector<std::string> Base64Forms(std::string_view value);

// A longer value has no base64 forms, which have many times its size.
inline constexpr size_t kBase64ValueBytesMax = 4096;
// All forms of the values of an attempt together; the shortest values come first.
inline constexpr size_t kFormBytesMax = 512u << 10;

// Includes the forms of shells and of HTML for each line of a value.
std::vector<std::string> FormsOf(const std::vector<std::string>& values);

}  // namespace carillon::executor
