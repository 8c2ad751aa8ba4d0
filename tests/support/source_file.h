// Paths of files of the source tree that tests read or write, such as pages that are compared with
// the code.
#pragma once

#include <string>
#include <string_view>

namespace carillon::test {

// `path` is relative to the root of the project: "docs/metrics.md".
std::string SourceFile(std::string_view path);

}  // namespace carillon::test
