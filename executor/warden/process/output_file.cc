#include "executor/warden/process/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/file_descriptor.h"
#include "common/domain/run/outputs.h"

namespace carillon::executor {

std::optional<OutputFile> ReadOutputFile(const std::string& path) {
  // O_NONBLOCK: the open of a FIFO would wait for a writer.
  const FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.open()) {
    if (errno == ENOENT) return std::nullopt;
    // ELOOP is a symbolic link, ENXIO a socket.
    const bool other = errno == ELOOP || errno == ENXIO;
    return OutputFile{other ? OutputFault::kNotAFile : OutputFault::kUnreadable};
  }
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return OutputFile{OutputFault::kUnreadable};
  if (!S_ISREG(info.st_mode)) return OutputFile{OutputFault::kNotAFile};
  // One byte more shows that the file is too large, even if its size has changed meanwhile.
  std::string text(kOutputsBytesMax + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = read(file.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return OutputFile{OutputFault::kUnreadable};
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  if (size > kOutputsBytesMax) return OutputFile{OutputFault::kTooLarge};
  text.resize(size);
  return OutputFile{OutputFault::kNone, std::move(text)};
}

std::string_view FaultText(OutputFault fault) {
  switch (fault) {
    case OutputFault::kNotAFile: return "their file is not a regular file";
    case OutputFault::kTooLarge: return "their file is too large";
    case OutputFault::kUnreadable: return "their file cannot be read";
    case OutputFault::kNone: break;
  }
  return "";
}

}  // namespace carillon::executor
