#include "common/adapters/mysql/client/result_columns.h"

#include "common/domain/results/result_detail.h"

namespace carillon::mysql {

void AddOptional(JsonRows& rows, const std::optional<int>& value) {
  if (value) {
    rows.Add(*value);
  } else {
    rows.AddNull();
  }
}

void AddDetail(JsonRows& rows, const AttemptResult& result) {
  const std::string detail = DetailToText(result);
  if (detail.empty()) {
    rows.AddNull();
  } else {
    rows.Add(detail);
  }
}

void AddBlob(JsonRows& rows, std::string_view bytes) {
  if (bytes.empty()) {
    rows.AddNull();
  } else {
    rows.AddBytes(bytes);
  }
}

}  // namespace carillon::mysql
