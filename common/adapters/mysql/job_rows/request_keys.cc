#include "common/adapters/mysql/job_rows/request_keys.h"

namespace carillon::mysql {

Result<int64_t> WriteAnswer(Session& session, std::string_view condition, const std::string& scope,
                            const std::string& key, const StoredAnswer& answer) {
  return session.Execute(
      "UPDATE request_keys SET finished = 1, status = ?, body = ?, location = ?, etag = ? "
      "WHERE scope = ? AND request_key = ?" +
          std::string(condition),
      {int64_t{answer.status}, answer.body, answer.location, answer.etag, scope, key});
}

Status SettleRequest(Session& session, const std::string& scope, const std::string& key,
                     const StoredAnswer& answer) {
  CARILLON_ASSIGN_OR_RETURN(const int64_t matched,
                            WriteAnswer(session, " AND finished = 0", scope, key, answer));
  if (matched > 0) return {};
  return {ErrorCode::kConflict, "the request with the key " + key + " was finished meanwhile"};
}

}  // namespace carillon::mysql
