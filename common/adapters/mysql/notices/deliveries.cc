#include "common/adapters/mysql/notices/deliveries.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/notice_rows.h"

namespace carillon::mysql {
namespace {

constexpr int64_t kBacklogCountedMax = 10'000;

const std::string kDeliveryColumns =
    "d.id, d.notice_id, d.channel + 0, d.segment, d.kind, j.job_id, d.fire_us, d.schedule_id, "
    "d.shard, d.state, d.attempts, d.created_us, d.asked_us, d.due_us, d.ended_us, d.status, "
    "d.error, d.recipients";
constexpr uint32_t kDeliveryMessageColumn = 19;

std::vector<std::string> SplitRecipients(const std::string& text) {
  std::vector<std::string> recipients;
  for (size_t from = 0; from < text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    recipients.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return recipients;
}

// Returns the channels as part of the statement's text. There are only few channels, and their
// names are constants.
std::string ChannelList(const std::vector<DeliveryChannel>& channels) {
  std::string list;
  for (const DeliveryChannel channel : channels) {
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", Name(channel));
  }
  return list;
}

Result<Delivery> ReadDelivery(const Rows& rows) {
  CARILLON_ASSIGN_OR_RETURN(const NoticeKind kind, ParseNoticeKind(rows.Text(5)));
  CARILLON_ASSIGN_OR_RETURN(const DeliveryState state, ParseDeliveryState(rows.Text(10)));
  return Delivery{
      .id = rows.Unsigned(1),
      .notice_id = rows.Unsigned(2),
      .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(4))),
      .channel = rows.Int(3) == 1 ? DeliveryChannel::kWebhook : DeliveryChannel::kMail,
      .kind = kind,
      .job_id = JobId(rows.Text(6)),
      .key = {rows.Time(7), ScheduleId(rows.Unsigned(8)), static_cast<uint32_t>(rows.Unsigned(9))},
      .state = state,
      .attempts = static_cast<int>(rows.Int(11)),
      .created = rows.Time(12),
      .asked = rows.Time(13),
      .due = rows.Time(14),
      .ended = rows.Time(15),
      .status = static_cast<int>(rows.Int(16)),
      .error = rows.Text(17),
      .recipients = SplitRecipients(rows.Text(18))};
}

}  // namespace

Result<std::vector<Delivery>> ReadDueDeliveries(Session& session,
                                                const std::vector<SegmentId>& segments,
                                                const std::vector<DeliveryChannel>& channels,
                                                WallTime now, size_t limit) {
  // Sorts only ids, because messages are large.
  const std::string statement =
      "SELECT " + kDeliveryColumns +
      ", d.message FROM (SELECT o.id FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (g INT UNSIGNED PATH "
      "'$[0]')) k STRAIGHT_JOIN deliveries o FORCE INDEX (open_deliveries) ON o.open_segment = k.g "
      "AND o.due_us <= ? WHERE o.channel IN (" +
      ChannelList(channels) +
      ") ORDER BY o.due_us, o.id LIMIT ?) x STRAIGHT_JOIN deliveries d FORCE INDEX (PRIMARY) ON "
      "d.id = x.id STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = d.job_no ORDER BY "
      "d.due_us, d.id";
  const std::string list = SegmentList(segments);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(statement, {list, ToUnixMicros(now), static_cast<uint64_t>(limit)}));
  std::vector<Delivery> due;
  while (rows.Next()) {
    auto delivery = ReadDelivery(rows);
    if (!delivery.ok()) {
      session.NoteUnreadable("deliveries", rows.Text(1), delivery.error().message);
      continue;
    }
    delivery->message = rows.Text(kDeliveryMessageColumn);
    due.push_back(std::move(delivery).value());
  }
  return due;
}

Status WriteOutcome(Session& session, const DeliveryOutcome& outcome, WallTime now) {
  const bool pending = outcome.state == DeliveryState::kPending;
  CARILLON_TRY(session.Execute(
      "UPDATE deliveries SET state = ?, attempts = ?, due_us = ?, ended_us = ?, status = ?, "
      "error = ?, open_segment = IF(? = 'PENDING', segment, NULL) WHERE id = ? AND "
      "state = 'PENDING' AND asked_us = ?",
      {Name(outcome.state), int64_t{outcome.attempts}, ToUnixMicros(outcome.due),
       pending ? int64_t{0} : ToUnixMicros(now), int64_t{outcome.status}, outcome.error,
       Name(outcome.state), outcome.id, ToUnixMicros(outcome.asked)}));
  return {};
}

Result<DeliveryBacklog> ReadDeliveryBacklog(Session& session,
                                            const std::vector<SegmentId>& segments) {
  static const std::string statement = fmt::format(
      "SELECT COUNT(*), MIN(x.asked_us) FROM (SELECT d.asked_us FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS "
      "(g INT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN deliveries d FORCE INDEX (open_deliveries) ON "
      "d.open_segment = k.g LIMIT {}) x",
      kBacklogCountedMax);
  const std::string list = SegmentList(segments);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {list}));
  DeliveryBacklog backlog;
  if (!rows.Next()) return backlog;
  backlog.pending = rows.Int(1);
  if (!rows.IsNull(2)) backlog.oldest = rows.Time(2);
  return backlog;
}

Result<std::vector<Delivery>> ReadDeliveries(Session& session, const DeliveryFilter& filter) {
  const CountedRows all = DeliveriesOf(filter);
  Conditions where;
  where.Add("d.id < ?", {filter.before_id});
  where.Add(all.within);
  where.Add(all.wanted);
  Params params = where.params();
  params.push_back(static_cast<uint64_t>(filter.limit));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT " + kDeliveryColumns +
                        " FROM deliveries d STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON "
                        "j.job_no = d.job_no WHERE " +
                        where.text() + " ORDER BY " + all.order + " LIMIT ?",
                    params));
  std::vector<Delivery> page;
  while (rows.Next()) {
    auto delivery = ReadDelivery(rows);
    if (delivery.ok()) {
      page.push_back(std::move(delivery).value());
    } else {
      session.NoteUnreadable("deliveries", rows.Text(1), delivery.error().message);
    }
  }
  return page;
}

Result<Delivery> WriteResend(Session& session, uint64_t id, WallTime now) {
  const int64_t now_us = ToUnixMicros(now);
  CARILLON_TRY(session.Execute(
      "UPDATE deliveries SET state = 'PENDING', open_segment = segment, attempts = 0, "
      "asked_us = ?, due_us = ?, ended_us = 0 WHERE id = ?",
      {now_us, now_us, id}));
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query("SELECT " + kDeliveryColumns +
                                              " FROM deliveries d STRAIGHT_JOIN jobs j FORCE INDEX "
                                              "(PRIMARY) ON j.job_no = d.job_no WHERE d.id = ?",
                                          {id}));
  if (!rows.Next()) return Error{ErrorCode::kNotFound, fmt::format("no delivery {}", id)};
  return ReadDelivery(rows);
}

CountedRows DeliveriesOf(const DeliveryFilter& filter) {
  const auto& [state, kind, job_id, before_id, limit] = filter;  // names every field
  CountedRows rows{.from = "deliveries d", .order = "d.id DESC", .within = {}};
  if (job_id) {
    rows.within.Add("d.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)",
                    {job_id->value()});
  }
  if (state) rows.wanted.Add("d.state = ?", {Name(*state)});
  if (kind) rows.wanted.Add("d.kind = ?", {Name(*kind)});
  return rows;
}

}  // namespace carillon::mysql
