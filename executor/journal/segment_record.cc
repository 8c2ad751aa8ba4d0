#include "executor/journal/segment_record.h"

#include <zlib.h>

#include "executor/journal/byte_codec.h"

namespace carillon::executor {
namespace {

// Detects torn and corrupt records.
uint32_t Checksum(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

void AppendRecord(std::string* out, const RawRecord& record) {
  const RecordKind stored = record.kind == RecordKind::kMove ? RecordKind::kPut : record.kind;
  ByteWriter body;
  body.U32(static_cast<uint32_t>(record.payload.size()));
  body.U64(record.id);
  body.U8(static_cast<uint8_t>(stored));
  std::string bytes = body.Take();
  bytes.append(record.payload);
  ByteWriter crc;
  crc.U32(Checksum(bytes));
  out->append(crc.bytes());
  out->append(bytes);
}

bool ParseRecord(std::string_view bytes, RawRecord* record) {
  if (bytes.size() < kRecordHeaderBytes) return false;
  ByteReader header(bytes.substr(0, kRecordHeaderBytes));
  const uint32_t crc = header.U32();
  const uint32_t size = header.U32();
  record->id = header.U64();
  record->kind = static_cast<RecordKind>(header.U8());
  if (size > kRecordPayloadBytesMax || size > bytes.size() - kRecordHeaderBytes) return false;
  if (record->kind != RecordKind::kPut && record->kind != RecordKind::kRemove) return false;
  if (Checksum(bytes.substr(4, kRecordHeaderBytes - 4 + size)) != crc) return false;
  record->payload = bytes.substr(kRecordHeaderBytes, size);
  return true;
}

}  // namespace carillon::executor
