#include "common/adapters/mysql/client/mysql_error.h"

#include <fmt/core.h>

namespace carillon::mysql {
namespace {

bool IsRefusedItem(int number) {
  switch (number) {
    case 1048:               // column cannot be null
    case 1118:               // row too large
    case 1153:               // packet larger than max_allowed_packet
    case 1162:               // result string longer than max_allowed_packet
    case 1264:               // out of range
    case 1292:               // wrong value
    case 1301:               // result larger than max_allowed_packet
    case 1366:               // wrong value for the column, such as text that is not UTF-8
    case 1367:               // illegal value found during parsing
    case 1406:               // data too long
    case 1411:               // wrong value for a function
    case 1526:               // no partition for the value
    case 1690:               // out of range in an expression
    case 1300:               // text that is not UTF-8
    case 3140:               // invalid JSON text (MySQL)
    case 3141:               // invalid JSON text in an argument (MySQL)
    case 3144:               // JSON text in a character set that is not UTF-8 (MySQL)
    case 3156:               // JSON value that does not fit its column (MySQL)
    case 3157:               // JSON text that is too deep (MySQL)
    case 3666:               // JSON_TABLE: an array or object in a scalar's column (MySQL)
    case 3669:               // JSON_TABLE: a value out of its column's range (MySQL)
    case 3854:               // text that cannot be converted, because it is not UTF-8 (MySQL)
    case 4037:               // unexpected end of JSON (MariaDB)
    case 4038:               // syntax error in JSON (MariaDB)
    case 4178: return true;  // JSON_TABLE cannot store into a scalar
    default: return false;
  }
}

// True for errors of the store itself: any other statement would fail too, so no item of the batch
// is at fault.
bool IsBrokenStore(int number) {
  switch (number) {
    case 1034:               // wrong key file
    case 1054:               // unknown column
    case 1064:               // syntax error: a store of another kind
    case 1146:               // no such table
    case 1194:               // table is marked as crashed
    case 1305:               // no such function
    case 1712:               // index corrupted
    case 1877:               // table corrupted
    case 1932: return true;  // table does not exist in the engine
    default: return false;
  }
}

bool IsDenied(int number) {
  switch (number) {
    case 1044:
    case 1045:
    case 1142:
    case 1143:
    case 1227:
    case 1370:
    case 1698: return true;
    default: return false;
  }
}

// The advice for the reader of the message, or "".
std::string_view CureOf(int number) {
  switch (number) {
    case kTlsRequired: return "; the server accepts only TLS: set store.tls to required or verify";
    default: return "";
  }
}

}  // namespace

bool IsConnectionLost(int number) {
  switch (number) {
    case 1053:  // server shutdown
    case 1077:
    case 1079:
    case 1080:
    case 1158:  // network errors seen by the server
    case 1159:
    case 1160:
    case 1161:
    case 1927:  // connection was killed (MariaDB)
    case 1928:
    case 3169:               // connection was killed (MySQL)
    case 4031: return true;  // closed, because it was idle for wait_timeout (MySQL)
    default: return number >= 2000 && number < 3000;
  }
}

bool IsRetryable(int number) {
  return number == kDeadlock || number == kLockWaitTimeout || number == 1020;
}

ErrorCode CodeOf(int number, Phase phase) {
  if (phase == Phase::kCommit) {
    // If InnoDB reports a retryable error, it has rolled the transaction back. After any other
    // error the outcome is unknown.
    return IsRetryable(number) ? ErrorCode::kUnavailable : ErrorCode::kTimeout;
  }
  if (IsDenied(number)) return ErrorCode::kDenied;
  if (phase == Phase::kConnect) {
    return number == 1049 ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  }
  if (number == kDuplicateKey) return ErrorCode::kExists;
  if (number == kStatementTimeout || number == 3024) return ErrorCode::kExhausted;  // LimitReads
  if (IsRefusedItem(number)) return ErrorCode::kInvalid;
  if (IsBrokenStore(number)) return ErrorCode::kBrokenStore;
  return ErrorCode::kUnavailable;
}

Error MakeError(std::string_view operation, int number, std::string_view text, Phase phase) {
  const std::string_view cure = CureOf(number);
  return {CodeOf(number, phase), fmt::format("{}: {} (mysql {}){}", operation, text, number, cure)};
}

}  // namespace carillon::mysql
