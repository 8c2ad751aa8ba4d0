#include "common/adapters/mysql/events/event_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/conditions.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/wire/json/event_json.h"
#include "common/wire/json/json_text.h"

namespace carillon::mysql {
namespace {

// The key of an event, from SQL expressions for namespace, source and id. These contain no control
// characters, so that the text is that of one event only.
std::string KeyOf(const std::string& name_space, const std::string& source, const std::string& id) {
  return "UNHEX(LEFT(SHA2(CONCAT(" + name_space + ", '\n', " + source + ", '\n', " + id +
         "), 256), 32))";
}

// Patterns of LIKE, because `=` ignores blanks at the end.
std::string PatternOf(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '!') pattern += '!';
    pattern += c;
  }
  return pattern;
}

std::string PatternOfType(std::string_view type) {
  if (!type.ends_with('*')) return PatternOf(type);
  return PatternOf(type.substr(0, type.size() - 1)) + '%';
}

// The conditions of a list, with the texts to which their parameters refer.
struct EventRange {
  explicit EventRange(const EventListFilter& filter)
      : type(PatternOfType(filter.type)),
        source(PatternOf(filter.source)),
        id(PatternOf(filter.id)) {
    Conditions& c = conditions;
    if (!filter.namespaces.empty()) c.AddAnyOf("e.namespace", filter.namespaces);
    if (filter.since) c.Add("e.accepted_us >= ?", {ToUnixMicros(*filter.since)});
    if (filter.until) c.Add("e.accepted_us < ?", {ToUnixMicros(*filter.until)});
    if (!type.empty()) c.Add("e.type LIKE ? ESCAPE '!'", {type});
    if (!source.empty()) c.Add("e.source LIKE ? ESCAPE '!'", {source});
    if (!id.empty()) c.Add("e.id LIKE ? ESCAPE '!'", {id});
    if (filter.outcome) c.Add("e.outcome = ?", {Name(*filter.outcome)});
    if (filter.before) {
      const int64_t accepted = ToUnixMicros(filter.before->accepted);
      c.Add("e.accepted_us <= ? AND (e.accepted_us < ? OR e.event_key < UNHEX(?))",
            {accepted, accepted, filter.before->tie});
    }
    by_key = filter.namespaces.size() == 1 && !source.empty() && !id.empty();
    if (by_key) {
      c.Add("e.event_key = " + KeyOf("?", "?", "?"),
            {filter.namespaces.front(), filter.source, filter.id});
    }
  }
  EventRange(const EventRange&) = delete;
  EventRange& operator=(const EventRange&) = delete;

  std::string type, source, id;
  Conditions conditions;
  bool by_key = false;  // one event at most
};

Result<EventRecord> ReadRecord(const Rows& rows) {
  EventRecord record{.name_space = rows.Text(3),
                     .origin = {.id = rows.Text(5),
                                .source = rows.Text(4),
                                .type = rows.Text(6),
                                .subject = rows.Text(7)},
                     .accepted = rows.Time(1),
                     .problem = rows.Text(10)};
  CARILLON_ASSIGN_OR_RETURN(record.outcome, ParseEventOutcome(rows.Text(8)));
  CARILLON_ASSIGN_OR_RETURN(record.starts, StartsFromText(rows.Text(9)));
  return record;
}

const std::string kOrigins =
    "n VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[0]', "
    "s VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[1]', "
    "i VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[2]'";

void AddRecord(JsonRows& rows, const EventRecord& record) {
  rows.Begin()
      .Add(record.name_space)
      .Add(record.origin.source)
      .Add(record.origin.id)
      .Add(record.origin.type)
      .Add(record.origin.subject)
      .Add(Name(record.outcome))
      .Add(record.accepted)
      .AddBytes(JsonToText(StartsToJson(record.starts)))
      .AddBytes(record.problem);
}

const std::string kInsert =
    "INSERT INTO events (event_key, namespace, source, id, type, subject, outcome, accepted_us, "
    "starts, problem) SELECT " +
    KeyOf("k.n", "k.s", "k.i") +
    ", k.n, k.s, k.i, k.t, k.b, k.o, k.a, CONVERT(FROM_BASE64(k.x) USING utf8mb4), "
    "CONVERT(FROM_BASE64(k.p) USING utf8mb4) FROM JSON_TABLE(" CARILLON_JSON ", '$[*]' COLUMNS (" +
    kOrigins +
    ", t VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[3]', "
    "b VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[4]', "
    "o VARCHAR(32) PATH '$[5]', a BIGINT PATH '$[6]', x LONGTEXT PATH '$[7]', "
    "p LONGTEXT PATH '$[8]')) k";

}  // namespace

Result<KnownStarts> ReadKnown(Session& session, const std::string& name_space,
                              const std::vector<const EventOrigin*>& events) {
  static const std::string statement =
      "SELECT k.r, e.starts FROM JSON_TABLE(" CARILLON_JSON ", '$[*]' COLUMNS (" + kOrigins +
      ", r INT PATH '$[3]')) k STRAIGHT_JOIN events e FORCE INDEX (PRIMARY) ON e.event_key = " +
      KeyOf("k.n", "k.s", "k.i");
  JsonRows wanted;
  for (size_t i = 0; i < events.size(); ++i) {
    wanted.Begin().Add(name_space).Add(events[i]->source).Add(events[i]->id).Add(uint64_t{i});
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  KnownStarts known(events.size());
  while (rows.Next()) {
    Result<std::vector<EventStart>> starts = StartsFromText(rows.Text(2));
    const size_t place = rows.Unsigned(1);
    if (!starts.ok()) session.NoteUnreadable("events", events[place]->id, starts.error().message);
    known[place] = starts.ok() ? std::move(*starts) : std::vector<EventStart>();
  }
  return known;
}

Status InsertEvents(Session& session, std::vector<EventRecord> records) {
  if (records.empty()) return {};
  // In one order, so that two members that accept the same events do not wait for each other.
  std::sort(records.begin(), records.end(), [](const EventRecord& a, const EventRecord& b) {
    return std::tie(a.name_space, a.origin.source, a.origin.id) <
           std::tie(b.name_space, b.origin.source, b.origin.id);
  });
  JsonRows rows;
  for (const EventRecord& record : records) AddRecord(rows, record);
  CARILLON_TRY(session.Execute(kInsert, {rows.Take()}));
  return {};
}

Status InsertRefused(Session& session, const RefusedEvent& event, WallTime now) {
  static const std::string statement =
      kInsert + " ON DUPLICATE KEY UPDATE events.type = events.type";
  JsonRows rows;
  AddRecord(rows, {.name_space = event.name_space,
                   .origin = {.id = event.place, .source = "", .type = event.type},
                   .accepted = now,
                   .outcome = EventOutcome::kRefused,
                   .problem = event.problem});
  CARILLON_TRY(session.Execute(statement, {rows.Take()}));
  return {};
}

Result<EventPage> ReadEventPage(Session& session, const EventListFilter& filter) {
  EventListFilter asked = filter;
  std::erase_if(asked.namespaces, [](const std::string& name) { return !IsAscii(name); });
  if (asked.namespaces.empty() != filter.namespaces.empty()) return EventPage{};
  const EventRange range(asked);
  Params params = range.conditions.params();
  params.push_back(static_cast<uint64_t>(filter.limit + 1));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT e.accepted_us, LOWER(HEX(e.event_key)), e.namespace, e.source, e.id, "
                    "e.type, e.subject, e.outcome, e.starts, e.problem FROM events e FORCE INDEX " +
                        std::string(range.by_key ? "(PRIMARY)" : "(by_time)") + " WHERE " +
                        range.conditions.text() +
                        " ORDER BY e.accepted_us DESC, e.event_key DESC LIMIT ?",
                    params));
  EventPage page;
  std::optional<EventCursor> last;
  for (size_t seen = 0; rows.Next(); ++seen) {
    if (seen == filter.limit) {
      page.next = last;
      break;
    }
    last = EventCursor{.accepted = rows.Time(1), .tie = rows.Text(2)};
    Result<EventRecord> record = ReadRecord(rows);
    if (record.ok()) {
      page.events.push_back(std::move(*record));
    } else {
      session.NoteUnreadable("events", last->tie, record.error().message);
    }
  }
  return page;
}

}  // namespace carillon::mysql
