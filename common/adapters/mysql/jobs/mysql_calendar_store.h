// The port CalendarStore on MariaDB or MySQL.
#pragma once

#include <map>
#include <string>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/calendar_store.h"

namespace carillon::mysql {

class MysqlCalendarStore final : public CalendarStore {
 public:
  explicit MysqlCalendarStore(MysqlDatabase& db) : db_(db) {}

  Result<StoredCalendar> PutCalendar(const std::string& name, const CalendarDefinition& definition,
                                     WallTime now) override;
  Status DeleteCalendar(const std::string& name, WallTime now) override;
  Result<int64_t> ReadCalendarVersion() override;
  Result<CalendarSet> LoadCalendars() override;
  Result<std::map<CalendarNo, int64_t>> CountCalendarJobs() override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
