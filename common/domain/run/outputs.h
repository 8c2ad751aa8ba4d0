// Outputs of a run: named values that its process leaves for whoever reads the result.
//
// The process appends lines to a file. A line is NAME=value; a value of several lines is written
// between two lines with a word that does not occur in it:
//
//   rows=1200
//   report<<END
//   first line
//   second line
//   END
//
// Empty lines between outputs are ignored. The last value of a name counts.
//
// Errors   kInvalid, with a sentence that names the line. It never repeats a text of the file,
//          which may contain a secret.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

using Outputs = std::map<std::string, std::string>;

// Names the file, in the environment of a process.
inline constexpr char kOutputFileVariable[] = "CARILLON_OUTPUT_FILE";
inline constexpr size_t kOutputsMax = 64;
inline constexpr size_t kOutputNameBytesMax = 64;
inline constexpr size_t kOutputsBytesMax = 16u << 10;  // of the file; also of all names and values

bool IsOutputName(std::string_view name);  // [A-Za-z_][A-Za-z0-9_]{0,63}
// The bytes of all names and values.
size_t BytesOf(const Outputs& outputs);
// Succeeds if the outputs are within the limits, all names are names, and all values are UTF-8
// without NUL.
Status CheckOutputs(const Outputs& outputs);

Result<Outputs> ParseOutputs(std::string_view text);
// The lines that ParseOutputs reads as this output. CheckOutputs must accept it.
std::string FormatOutput(std::string_view name, std::string_view value);

}  // namespace carillon
