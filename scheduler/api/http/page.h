// Pages of lists: page_size, opaque page_token, {items, next_page_token}. The first page also has
// total or total_at_least.
//
// Errors   400 bad_page_token: the token is invalid, or was made for other filters.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/ports/store/bounded_count.h"
#include "common/ports/store/idempotency_store.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

inline constexpr int64_t kPageSizeMax = 500;
inline constexpr int64_t kPageSizeDefault = 50;
// A page that reaches this many bytes ends early, with a token for the next page.
inline constexpr size_t kPageBytesMax = 8u << 20;

// Returns the count for a list of `size` items. The handler must have read all of them.
BoundedCount CountOf(size_t size);

class Page {
 public:
  // `list` names the kind of list. A token is valid only for this kind and for the query's filters.
  static Outcome<Page> Read(const Query& query, std::string_view list);

  size_t size() const { return size_; }
  const std::string& cursor() const { return cursor_; }  // empty = from the start

  // Adds an item unless the page is full. False: the item belongs on the next page. `cursor` is the
  // position after the item.
  bool Add(const nlohmann::json& item, std::string cursor);
  // Skips an item that is not shown. The next page continues after it.
  void Skip(std::string cursor);
  // Skips all items up to `cursor`, because the search for this page has reached its limit.
  void SearchEnded(std::string cursor);
  // As SearchEnded. The answer also has the time that the search has reached, as `searched_to`.
  void SearchedTo(std::string cursor, WallTime time);
  using Counter = std::function<Result<BoundedCount>()>;
  // `more`: the list continues after the last added item. If an Add was refused, the list continues
  // in any case. `count` counts the whole list. It is called only for the first page, and only if
  // the list continues and SearchEnded was not called. If `count` fails, total_at_least is the
  // number of items of this page.
  HttpResponse Finish(bool more, const Counter& count);

 private:
  // The total in the first page; empty on later pages.
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
// Parses a cursor that is a number; nullopt if it is not.
std::optional<uint64_t> ParseCursor(const std::string& text);

HttpResponse JsonResponse(int status, const nlohmann::json& body);
// The value of the header with this name; empty if there is none.
std::string HeaderOf(const HttpResponse& response, std::string_view name);
// Makes a response from an answer that was stored for an Idempotency-Key.
HttpResponse FromStored(const StoredAnswer& answer);

}  // namespace carillon::scheduler
