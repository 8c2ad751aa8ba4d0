// Structured log lines: a room name and a sentence. spdlog is used only in log.cc.
//
// Threads  Thread-safe. Lines go to stderr, or to a rotating file if configured.
// Always   Lines never contain secrets or the output of jobs.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace carillon::log {

enum class Level { kDebug, kInfo, kWarn, kError, kOff };

enum class Form {
  kText,  // time, level, room and sentence
  kJson,  // one JSON object per line: time, level, room, message
};

struct Options {
  Level level = Level::kInfo;
  Form form = Form::kText;
  std::string file = {};  // empty = stderr; otherwise a rotating file
  size_t file_bytes_max = 64u << 20;
  size_t files_max = 5;  // files kept by the rotation
};

void Configure(const Options& options);
void SetLevel(Level level);
bool Enabled(Level level);
void Write(Level level, std::string_view room, std::string_view line);

template <typename... Args>
void Debug(std::string_view room, fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kDebug)) {
    Write(Level::kDebug, room, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void Info(std::string_view room, fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kInfo)) {
    Write(Level::kInfo, room, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void Warn(std::string_view room, fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kWarn)) {
    Write(Level::kWarn, room, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void Error(std::string_view room, fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kError)) {
    Write(Level::kError, room, fmt::format(format, std::forward<Args>(args)...));
  }
}

}  // namespace carillon::log
