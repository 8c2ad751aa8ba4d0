// Format of one record of a segment on disk: {crc, size, id, kind, payload}.
//
// Errors   ParseRecord: false for a torn or corrupt record, or for bytes that are not a record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace carillon::executor {

using RecordId = uint64_t;  // ascending, never used twice

// The numbers are stored on disk.
enum class RecordKind : uint8_t {
  kPut = 1,
  kRemove = 2,
  // On disk like kPut: the copy of a record whose original is in another segment.
  kMove = 3,
};

inline constexpr size_t kRecordHeaderBytes = 4 + 4 + 8 + 1;
inline constexpr size_t kRecordPayloadBytesMax = 1u << 20;

// One record as read; `payload` points into the bytes given to ParseRecord.
struct RawRecord {
  RecordId id = 0;
  RecordKind kind = RecordKind::kPut;
  std::string_view payload;
};

void AppendRecord(std::string* out, const RawRecord& record);
// Parses the record at the front of `bytes`.
bool ParseRecord(std::string_view bytes, RawRecord* record);

}  // namespace carillon::executor
