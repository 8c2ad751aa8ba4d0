// A file that is part of the program; cmake/embed_directory.cmake generates tables of such files.
//
// Owns     Nothing: the bytes are static data.
#pragma once

#include <span>
#include <string_view>

namespace carillon {

struct EmbeddedFile {
  std::string_view path;  // relative to the directory, with '/': "assets/main-1a2b.js"
  std::string_view bytes;
  std::string_view sha256;  // 64 lower-case hexadecimal digits
};

// The files of one directory, sorted by path.
using EmbeddedFiles = std::span<const EmbeddedFile>;

}  // namespace carillon
