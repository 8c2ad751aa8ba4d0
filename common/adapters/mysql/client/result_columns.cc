#include "common/adapters/mysql/client/result_columns.h"

namespace carillon::mysql {

void AddOptional(JsonRows& rows, const std::optional<int>& value) {
  if (value) {
    rows.Add(*value);
  } else {
    rows.AddNull();
  }
}

void AddUsage(JsonRows& rows, const std::optional<ResourceUsage>& usage) {
  if (usage) {
    rows.Add(UsageToText(*usage));
  } else {
    rows.AddNull();
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
