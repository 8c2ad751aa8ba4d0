// Pages of lists: page_size, opaque page_token, {items, next_page_token}; the first one with the
// list's total, or with total_at_least.
//
// Errors   400, code bad_page_token: not one of ours, or made for other filters.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/ports/admin_store.h"
#include "common/ports/list_counts.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

inline constexpr int64_t kPageSizeMax = 500;
inline constexpr int64_t kPageSizeDefault = 50;
// A page ends early above this many bytes, with a token to go on.
inline constexpr size_t kPageBytesMax = 8u << 20;

// All of those that a handler has in its hands.
BoundedCount CountOf(size_t size);

class Page {
 public:
  // `list` names the kind of list; the token is bound to it and to the query's filters.
  static Outcome<Page> Read(const Query& query, std::string_view list);

  size_t size() const { return size_; }
  const std::string& cursor() const { return cursor_; }  // empty = from the start

  // Takes an item unless the page is full; false: it has to come on the next page. `cursor` says
  // where to go on after the item.
  bool Add(const nlohmann::json& item, std::string cursor);
  // Something was looked at that is not to be shown; the next page goes on after it.
  void Skip(std::string cursor);
  // As Skip, of everything up to there: no more may be looked at for this page.
  void SearchEnded(std::string cursor);
  // As SearchEnded, back to that time; the answer says so in `searched_to`.
  void SearchedTo(std::string cursor, WallTime time);
  using Counter = std::function<Result<BoundedCount>()>;
  // `more`: the list goes on after the last item added (set by a refused Add as well). `count` is
  // asked for the first page's total when the page does not show it itself; when it fails, what is
  // shown is what is known.
  HttpResponse Finish(bool more, const Counter& count);

 private:
  // The member of the first page that says how many there are; empty on the others.
  std::string Total(bool goes_on, const Counter& count) const;

  std::string binding_;
  size_t size_ = 0;
  std::string cursor_;
  std::string text_;  // the items so far, as JSON
  size_t count_ = 0;
  bool refused_ = false;
  bool skipped_ = false;
  bool search_ended_ = false;
  std::optional<WallTime> searched_to_;
  std::string last_;
};

Problem BadPageToken();
// A cursor that is a number.
std::optional<uint64_t> ParseCursor(const std::string& text);

HttpResponse JsonResponse(int status, const nlohmann::json& body);
// Empty: it has none of this name.
std::string HeaderOf(const HttpResponse& response, std::string_view name);
// An answer that was kept for an Idempotency-Key.
HttpResponse FromStored(const StoredAnswer& answer);

}  // namespace carillon::scheduler
