#include "tests/support/source_file.h"

namespace carillon::test {

std::string SourceFile(std::string_view path) {
  return std::string(CARILLON_SOURCE_DIR "/").append(path);
}

}  // namespace carillon::test
