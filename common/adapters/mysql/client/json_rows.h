// Writes the JSON parameter of a batch statement: an array of rows, each an array of columns.
//
// JsonRows rows;  rows.Begin().Add(7).Add("x");  ->  [[7,"x"]]
// In SQL:  JSON_TABLE(" CARILLON_JSON ", '$[*]' COLUMNS (n BIGINT PATH '$[0]',
//          t VARCHAR(9) PATH '$[1]')) k
//
// Always   JSON_TABLE truncates text to its column's length with only a warning. So statements
//          declare these columns longer than the columns of the target table. The target table then
//          refuses text that is too long. Text must be UTF-8; otherwise the server refuses the
//          statement. Bytes are sent as base64 and read with FROM_BASE64().
//          On MySQL such text is NULL instead of truncated, and a nullable column takes it. So
//          there, too, the declared length is what keeps text whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/domain/run_id.h"

// The parameter of a JSON_TABLE: a part of a string literal. The connector sends a text of more
// than 256 KiB as bytes, in which MySQL sees no JSON (error 3144). MariaDB skips the comments.
// COALESCE: bytes that are not UTF-8 are converted to NULL, which is a table without rows: nothing
// would be written, and no error reported. What stands in their place is no JSON either, so the
// batch is refused.
#define CARILLON_JSON "/*!80030 COALESCE(CONVERT(*/ ? /*!80030 USING utf8mb4), '?')*/"

namespace carillon::mysql {

class JsonRows {
 public:
  JsonRows& Begin();
  JsonRows& Add(int64_t value);
  JsonRows& Add(uint64_t value);
  JsonRows& Add(int value) { return Add(static_cast<int64_t>(value)); }
  JsonRows& Add(uint32_t value) { return Add(static_cast<uint64_t>(value)); }
  JsonRows& Add(bool value) { return Add(static_cast<int64_t>(value ? 1 : 0)); }
  JsonRows& Add(WallTime value) { return Add(ToUnixMicros(value)); }
  JsonRows& Add(std::string_view utf8);
  JsonRows& AddNull();
  JsonRows& AddBytes(std::string_view bytes);
  // Three columns: fire_us, schedule_id, shard.
  JsonRows& Add(const RunKey& key);

  size_t size() const { return size_; }
  size_t bytes() const { return text_.size() + 2; }
  bool empty() const { return size_ == 0; }
  // Returns the whole JSON text and empties the object.
  std::string Take();

 private:
  void Separate();

  std::string text_ = {};
  size_t size_ = 0;
  bool first_column_ = true;
};

}  // namespace carillon::mysql
