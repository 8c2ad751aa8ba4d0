#include "common/domain/run/run_log.h"

namespace carillon {
namespace {

constexpr size_t kHeadBytes = 1 + 8 + 4;  // stream, microseconds, length; little-endian

void PutFixed(std::string& out, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

uint64_t GetFixed(std::string_view bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

}  // namespace

std::string_view Name(LogStream stream) {
  switch (stream) {
    case LogStream::kStdout: return "stdout";
    case LogStream::kStderr: return "stderr";
    case LogStream::kCarillon: return "carillon";
  }
  return "stdout";
}

void AppendEntry(std::string& encoded, const LogEntry& entry) {
  encoded.push_back(static_cast<char>(entry.stream));
  PutFixed(encoded, static_cast<uint64_t>(ToUnixMicros(entry.time)), 8);
  PutFixed(encoded, entry.text.size(), 4);
  encoded += entry.text;
}

Result<std::vector<LogEntry>> DecodeEntries(std::string_view encoded, uint32_t count) {
  const Error corrupt{ErrorCode::kCorrupt, "the entries of a log do not parse"};
  if (count > encoded.size() / kHeadBytes) return corrupt;
  std::vector<LogEntry> entries;
  entries.reserve(count);
  while (!encoded.empty()) {
    if (encoded.size() < kHeadBytes || entries.size() == count) return corrupt;
    const auto stream = static_cast<uint8_t>(encoded[0]);
    const auto micros = static_cast<int64_t>(GetFixed(encoded.substr(1), 8));
    const size_t size = GetFixed(encoded.substr(9), 4);
    encoded.remove_prefix(kHeadBytes);
    if (stream > static_cast<uint8_t>(LogStream::kCarillon) || size > encoded.size()) {
      return corrupt;
    }
    entries.push_back({.time = FromUnixMicros(micros),
                       .stream = static_cast<LogStream>(stream),
                       .text = std::string(encoded.substr(0, size))});
    encoded.remove_prefix(size);
  }
  if (entries.size() != count) return corrupt;
  return entries;
}

}  // namespace carillon
