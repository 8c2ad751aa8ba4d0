// The file to which the process of one attempt appends its outputs.
//
// It lies beside the working directory, so that it is never confused with files of users, and does
// not exist until the process writes to it. The process may have put anything in its place.
//
// Place    Used by the keeper, when the tree of the attempt is dead.
// Threads  Stateless.
// Always   Follows no link and waits for no other process. Reads at most kOutputsBytesMax bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace carillon::executor {

// Below 0, because the keeper reports it in place of a number of bytes.
enum class OutputFault : int32_t {
  kNone = 0,
  kNotAFile = -1,  // a link, a directory, a FIFO, …
  kTooLarge = -2,
  kUnreadable = -3,
};

struct OutputFile {
  OutputFault fault = OutputFault::kNone;
  std::string text = {};  // empty after a fault
};

// nullopt: there is nothing at this path.
std::optional<OutputFile> ReadOutputFile(const std::string& path);
// Completes a sentence about the file; "" without a fault.
std::string_view FaultText(OutputFault fault);
using OutputReader = decltype(&ReadOutputFile);

}  // namespace carillon::executor
