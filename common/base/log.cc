#include "common/base/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

namespace carillon::log {
namespace {

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarn: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
    case Level::kOff: return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::atomic<int> g_level{static_cast<int>(Level::kInfo)};
std::atomic<bool> g_json{false};

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%f%z %l %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%f%z","level":"%l",%v})";

// Escapes for a JSON string. Invalid UTF-8 is kept; readers of logs can handle it.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

// Escapes line breaks and control characters: text from outside must not look like a log line of
// its own, nor move the cursor of a terminal.
std::string OnOneLine(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if ((byte < 0x20 && c != '\t') || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

spdlog::logger& Logger() {
  // Leaked on purpose: threads may log while static objects are destroyed.
  static spdlog::logger* const logger = [] {
    auto* made = new spdlog::logger("carillon", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern(kTextPattern);
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *logger;
}

}  // namespace

void Configure(const Options& options) {
  SetLevel(options.level);
  g_json = options.form == Form::kJson;
  const char* const pattern = g_json ? kJsonPattern : kTextPattern;
  if (options.file.empty()) {
    Logger().set_pattern(pattern);
    return;
  }
  auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
      options.file, options.file_bytes_max, options.files_max);
  sink->set_pattern(pattern);
  Logger().sinks() = {sink};
}

void SetLevel(Level level) { g_level.store(static_cast<int>(level), std::memory_order_relaxed); }

bool Enabled(Level level) {
  return static_cast<int>(level) >= g_level.load(std::memory_order_relaxed);
}

void Write(Level level, std::string_view room, std::string_view line) {
  if (g_json) {
    Logger().log(ToSpdlog(level), R"("room":"{}","message":"{}")", room, Escaped(line));
  } else {
    Logger().log(ToSpdlog(level), "{}: {}", room, OnOneLine(line));
  }
}

}  // namespace carillon::log
