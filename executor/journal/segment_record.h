// Format of one record of a segment on disk: {crc, size, id, kind, payload}.
//
// Errors   ParseRecord: false for what is torn, rotten or no record at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace carillon::executor {

enum class RecordKind : uint8_t {
  kPut = 1,
  kRemove = 2,
  kMove = 3,  // on disk like kPut; the copy of a record that lives elsewhere
};

inline constexpr size_t kRecordHeaderBytes = 4 + 4 + 8 + 1;
inline constexpr size_t kRecordPayloadBytesMax = 1u << 20;

struct RawRecord {
  uint64_t id = 0;
  RecordKind kind = RecordKind::kPut;
  std::string_view payload;
};

void AppendRecord(std::string* out, const RawRecord& record);
// The record at the front of `bytes`.
bool ParseRecord(std::string_view bytes, RawRecord* record);

}  // namespace carillon::executor
